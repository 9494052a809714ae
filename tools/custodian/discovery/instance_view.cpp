#include "discovery/instance_view.hpp"

#include <chrono>
#include <optional>

#include "custodian/authoring/path.hpp"
#include "text/printable_text.hpp"
#include "text/time_text.hpp"

namespace custodian::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t widest_payload = 60;

/// When the instance was registered; nothing if the instance does not state the time, or states one
/// that is not within 200 years after 1970.
std::optional<std::chrono::system_clock::time_point> time_of(const ServiceInstance& instance) {
  constexpr std::chrono::hours limit{24 * 365 * 200};
  const milliseconds since =
      instance.registered.value_or(ServiceInstance::Time{}).time_since_epoch();
  if (since <= milliseconds{0} || since > limit) return std::nullopt;
  return std::chrono::system_clock::time_point{since};
}

std::string type_of(const ServiceInstance& instance) {
  std::string text{to_string(instance.type)};
  for (char& each : text) each = each == '_' ? ' ' : static_cast<char>(each - 'A' + 'a');
  return text;
}

std::string address_of(const ServiceInstance& instance) {
  if (const std::string uri = instance.uri(); !uri.empty()) return uri;
  std::string text = instance.address.value_or("");
  if (instance.port) text += ":" + std::to_string(*instance.port);
  return text.empty() ? "no address" : text;
}

}  // namespace

std::string line_of(const SeenInstance& seen) {
  if (!seen.decoded.instance) {
    return printable(seen.node) + " is no instance: " + printable(seen.decoded.fault);
  }
  const ServiceInstance& instance = *seen.decoded.instance;
  std::string line = printable(instance.id.empty() ? name_of(seen.node) : instance.id);
  line += "  " + printable(address_of(instance)) + "  " + type_of(instance);
  if (const auto since = time_of(instance)) line += ", since " + plain_time(*since);
  if (!instance.enabled) line += ", disabled";
  if (instance.payload) line += "  " + shortened(printable(*instance.payload), widest_payload);
  return line;
}

Json json_of(const SeenInstance& seen) {
  Json json;
  json["node"] = seen.node;
  if (!seen.decoded.instance) {
    json["fault"] = seen.decoded.fault;
    return json;
  }
  const ServiceInstance& instance = *seen.decoded.instance;
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  const auto since = time_of(instance);
  json["id"] = instance.id;
  json["address"] = or_null(instance.address);
  json["port"] = or_null(instance.port);
  json["ssl_port"] = or_null(instance.ssl_port);
  json["uri"] = instance.uri_spec ? Json(instance.uri()) : Json(nullptr);
  json["type"] = to_string(instance.type);
  json["enabled"] = instance.enabled;
  json["registered"] = since ? Json(iso_time(*since)) : Json(nullptr);
  json["session"] = seen.stat.ephemeral_owner == 0 ? Json(nullptr)
                                                   : Json(session_text(seen.stat.ephemeral_owner));
  json["payload"] = or_null(instance.payload);
  return json;
}

}  // namespace custodian::cli
