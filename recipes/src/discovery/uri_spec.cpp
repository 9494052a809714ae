#include "custodian/discovery/uri_spec.hpp"

#include "custodian/discovery/service_instance.hpp"
#include "custodian/error.hpp"

namespace custodian {

namespace {

[[noreturn]] void refuse(std::string_view pattern, const char* why) {
  throw Error{Errc::invalid_argument, "UriSpec", "",
              std::string{why} + ": " + std::string{pattern}};
}

/// Trims as Java does: all characters up to the space count as white.
std::string_view trimmed(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string result{text};
  for (char& each : result) {
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  }
  return result;
}

std::string text_of(const std::optional<std::int32_t>& number) {
  return number ? std::to_string(*number) : std::string{};
}

}  // namespace

UriSpec::UriSpec(std::string_view pattern) {
  bool inside = false;
  for (std::string_view rest = pattern; !rest.empty();) {
    if (rest.front() == '{' || rest.front() == '}') {
      const bool opens = rest.front() == '{';
      if (opens && inside) refuse(pattern, "a variable has no brace in its name");
      if (!opens && !inside) refuse(pattern, "a brace is closed that was not opened");
      inside = opens;
      rest.remove_prefix(1);
      continue;
    }
    const std::string_view token = rest.substr(0, rest.find_first_of("{}"));
    rest.remove_prefix(token.size());
    parts_.push_back({std::string{inside ? trimmed(token) : token}, inside});
  }
  if (inside) refuse(pattern, "the last brace is not closed");
}

std::string UriSpec::build(const ServiceInstance& instance, const Variables& variables) const {
  const auto registered = instance.registered.value_or(ServiceInstance::Time{});
  return resolve({{"scheme", instance.ssl_port ? "https" : "http"},
                  {"name", instance.name},
                  {"id", instance.id},
                  {"address", instance.address.value_or("")},
                  {"port", text_of(instance.port)},
                  {"ssl-port", text_of(instance.ssl_port)},
                  {"registration-time-utc", std::to_string(registered.time_since_epoch().count())},
                  {"service-type", lower(to_string(instance.type))}},
                 variables);
}

std::string UriSpec::fill(const Variables& variables) const {
  return resolve({{"scheme", "http"}}, variables);
}

std::string UriSpec::resolve(Variables known, const Variables& given) const {
  known.insert({{"[", "{"}, {"]", "}"}});
  for (const auto& [name, value] : given) known[name] = value;
  std::string result;
  for (const Part& part : parts_) {
    if (!part.variable) {
      result += part.value;
    } else if (const auto found = known.find(part.value); found != known.end()) {
      result += found->second;
    }
  }
  return result;
}

}  // namespace custodian
