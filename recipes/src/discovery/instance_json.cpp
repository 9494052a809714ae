#include "custodian/discovery/instance_json.hpp"

#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "custodian/error.hpp"
#include "json_members.hpp"

namespace custodian {

namespace {

using Json = nlohmann::json;
using discovery_detail::is_json_object;
using discovery_detail::json_members;
using discovery_detail::trimmed_json;

[[noreturn]] void refuse(const char* operation, const char* why) {
  throw Error{Errc::invalid_argument, operation, "", why};
}

/// Whether the text is JSON. The JSON library takes a NUL for the end of a text.
bool is_json(std::string_view text) {
  return text.find('\0') == std::string_view::npos && Json::accept(text);
}

// -- Writing --------------------------------------------------------------------------------------

std::string json_text(const char* operation, std::string_view text) {
  try {
    return Json(text).dump();
  } catch (const Json::exception&) {
    refuse(operation, "a text is not UTF-8");
  }
}

std::string json_text(std::string_view text) { return json_text("encode_instance", text); }

std::string number_or_null(const std::optional<std::int32_t>& number) {
  return number ? std::to_string(*number) : "null";
}

std::string spec_or_null(const std::optional<UriSpec>& spec) {
  if (!spec) return "null";
  std::string parts;
  for (const UriSpec::Part& each : spec->parts()) {
    if (!parts.empty()) parts += ',';
    parts += "{\"value\":" + json_text(each.value) +
             ",\"variable\":" + (each.variable ? "true" : "false") + "}";
  }
  return "{\"parts\":[" + parts + "]}";
}

std::string payload_or_null(const std::optional<std::string>& payload) {
  if (!payload) return "null";
  if (!is_json(*payload)) refuse("encode_instance", "the payload is not JSON");
  return std::string{trimmed_json(*payload)};
}

bool is_written(bool enabled, EnabledMember how) {
  switch (how) {
    case EnabledMember::if_disabled: return !enabled;
    case EnabledMember::always: return true;
    case EnabledMember::never: break;
  }
  return false;
}

// -- Reading --------------------------------------------------------------------------------------

/// What is wrong with a member.
struct Fault {
  const char* why;
};

/// The members of an object. Of several with one name the last counts, as in Java. Each function
/// expects a type of value, and throws Fault if the value has another one.
class Members {
 public:
  explicit Members(std::string_view json) {
    for (const auto& [name, value] : json_members(json)) {
      all_.insert_or_assign(Json::parse(name).get<std::string>(), value);
    }
  }

  [[nodiscard]] std::optional<std::string> text(const char* name, const char* fault) const {
    const auto value = get(name);
    if (!value) return std::nullopt;
    if (value->front() != '"') throw Fault{fault};
    return Json::parse(*value).get<std::string>();
  }
  template <typename Number>
  [[nodiscard]] std::optional<Number> number(const char* name, const char* fault) const {
    const auto value = get(name);
    if (!value) return std::nullopt;
    if (value->front() == '{' || value->front() == '[') throw Fault{fault};
    const Json parsed = Json::parse(*value);
    if (!parsed.is_number_integer()) throw Fault{fault};
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Number>::max());
    if (parsed.is_number_unsigned() && parsed.get<std::uint64_t>() > most) throw Fault{fault};
    const auto wide = parsed.get<std::int64_t>();
    if (wide < std::numeric_limits<Number>::min()) throw Fault{fault};
    return static_cast<Number>(wide);
  }
  [[nodiscard]] std::optional<bool> flag(const char* name, const char* fault) const {
    const auto value = get(name);
    if (!value) return std::nullopt;
    if (*value != "true" && *value != "false") throw Fault{fault};
    return *value == "true";
  }
  /// The text of a value; nothing if the member is missing, or null.
  [[nodiscard]] std::optional<std::string_view> get(const char* name) const {
    const auto found = all_.find(std::string_view{name});
    if (found == all_.end() || found->second == "null") return std::nullopt;
    return found->second;
  }

 private:
  std::map<std::string, std::string_view, std::less<>> all_;
};

ServiceType type_of(const Members& members) {
  const auto name = members.text("serviceType", "serviceType is no string");
  if (!name) return ServiceType::dynamic;
  for (const ServiceType each : {ServiceType::dynamic, ServiceType::fixed, ServiceType::permanent,
                                 ServiceType::dynamic_sequential}) {
    if (*name == to_string(each)) return each;
  }
  throw Fault{"serviceType is none that is known"};
}

UriSpec::Part part_of(const Json& json) {
  constexpr Fault fault{"a part of uriSpec is none"};
  if (!json.is_object()) throw fault;
  const auto value = json.find("value");
  const auto variable = json.find("variable");
  if (value != json.end() && !value->is_string()) throw fault;
  if (variable != json.end() && !variable->is_boolean()) throw fault;
  return {.value = value == json.end() ? std::string{} : value->get<std::string>(),
          .variable = variable != json.end() && variable->get<bool>()};
}

std::optional<UriSpec> spec_of(const Members& members) {
  const auto text = members.get("uriSpec");
  if (!text) return std::nullopt;
  if (text->front() != '{') throw Fault{"uriSpec is no object"};
  const auto parts = Members{*text}.get("parts");
  if (!parts) return UriSpec{};
  if (parts->front() != '[') throw Fault{"uriSpec has no list of parts"};
  std::vector<UriSpec::Part> all;
  for (const Json& each : Json::parse(*parts)) all.push_back(part_of(each));
  return UriSpec{std::move(all)};
}

std::optional<std::string> payload_of(const Members& members) {
  const auto text = members.get("payload");
  return text ? std::optional{std::string{*text}} : std::nullopt;
}

ServiceInstance instance_of(const Members& members) {
  const auto since =
      members.number<std::int64_t>("registrationTimeUTC", "registrationTimeUTC is no whole number");
  return {.name = members.text("name", "name is no string").value_or(""),
          .id = members.text("id", "id is no string").value_or(""),
          .address = members.text("address", "address is no string"),
          .port = members.number<std::int32_t>("port", "port is no whole number"),
          .ssl_port = members.number<std::int32_t>("sslPort", "sslPort is no whole number"),
          .payload = payload_of(members),
          .registered = ServiceInstance::Time{std::chrono::milliseconds{since.value_or(0)}},
          .type = type_of(members),
          .uri_spec = spec_of(members),
          .enabled = members.flag("enabled", "enabled is neither true nor false").value_or(true)};
}

}  // namespace

std::string encode_instance(const ServiceInstance& instance, EnabledMember enabled) {
  const auto since = instance.registered.value_or(ServiceInstance::Time{}).time_since_epoch();
  std::string json = "{\"name\":" + json_text(instance.name);
  json += ",\"id\":" + json_text(instance.id);
  json += ",\"address\":" + (instance.address ? json_text(*instance.address) : "null");
  json += ",\"port\":" + number_or_null(instance.port);
  json += ",\"sslPort\":" + number_or_null(instance.ssl_port);
  json += ",\"payload\":" + payload_or_null(instance.payload);
  json += ",\"registrationTimeUTC\":" + std::to_string(since.count());
  json += ",\"serviceType\":" + json_text(to_string(instance.type));
  json += ",\"uriSpec\":" + spec_or_null(instance.uri_spec);
  if (is_written(instance.enabled, enabled)) {
    json += std::string{",\"enabled\":"} + (instance.enabled ? "true" : "false");
  }
  return json + "}";
}

DecodedInstance decode_instance(std::string_view json) {
  // From here on no parser fails: each gets a part of a text that is valid JSON.
  if (!is_json(json)) return {.fault = "it is not JSON"};
  if (!is_json_object(json)) return {.fault = "it is no JSON object"};
  try {
    return {.instance = instance_of(Members{json})};
  } catch (const Fault& fault) {
    return {.fault = fault.why};
  }
}

std::string text_payload(std::string_view text) { return json_text("text_payload", text); }

std::string object_payload(std::string_view java_class, std::string_view json) {
  if (!is_json(json) || !is_json_object(json)) {
    refuse("object_payload", "the text is no JSON object");
  }
  std::string result = "{\"@class\":" + json_text("object_payload", java_class);
  for (const auto& [name, value] : json_members(json)) {
    result.append(",").append(name).append(":").append(value);
  }
  return result + "}";
}

}  // namespace custodian
