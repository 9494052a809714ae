#include "custodian/version.hpp"

namespace custodian {

std::string_view version() noexcept { return CUSTODIAN_VERSION; }

}  // namespace custodian
