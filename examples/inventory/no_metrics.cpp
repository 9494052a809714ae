#include "metrics.hpp"

namespace inventory {

struct Metrics::Impl {};

Metrics::Metrics() = default;
Metrics::~Metrics() = default;

std::shared_ptr<custodian::Observer> Metrics::observer() { return nullptr; }
std::optional<std::string> Metrics::page() const { return std::nullopt; }

}  // namespace inventory
