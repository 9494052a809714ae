#include "custodian/discovery/service_instance.hpp"

namespace custodian {

std::string_view to_string(ServiceType type) noexcept {
  switch (type) {
    case ServiceType::dynamic: return "DYNAMIC";
    case ServiceType::fixed: return "STATIC";
    case ServiceType::permanent: return "PERMANENT";
    case ServiceType::dynamic_sequential: return "DYNAMIC_SEQUENTIAL";
  }
  return "unknown";
}

std::string ServiceInstance::uri(const UriSpec::Variables& variables) const {
  return uri_spec ? uri_spec->build(*this, variables) : std::string{};
}

}  // namespace custodian
