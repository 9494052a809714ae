#include "metrics.hpp"

#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "custodian/prometheus/prometheus_observer.hpp"

namespace inventory {

struct Metrics::Impl {
  std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();
  // The observer gives locks no label: a label would have as many values as there are items.
  std::shared_ptr<custodian::PrometheusObserver> observer =
      std::make_shared<custodian::PrometheusObserver>(registry);
};

Metrics::Metrics() : impl_{std::make_unique<Impl>()} {}
Metrics::~Metrics() = default;

std::shared_ptr<custodian::Observer> Metrics::observer() { return impl_->observer; }

std::optional<std::string> Metrics::page() const {
  return prometheus::TextSerializer{}.Serialize(impl_->registry->Collect());
}

}  // namespace inventory
