#pragma once

/// \file
/// UriSpec is a pattern for the address of a service, as Apache Curator's class of this name is:
/// "{scheme}://{address}:{port}". A value type.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "custodian/export.hpp"

namespace custodian {

struct ServiceInstance;

/// A pattern for the address of a service.
///
/// Text in braces names a variable. The variables of an instance are `scheme` (http, or https if
/// the instance has a port for TLS), `name`, `id`, `address`, `port`, `ssl-port`,
/// `registration-time-utc` (milliseconds) and `service-type` (in lower case). `{[}` and `{]}` stand
/// for the braces themselves. An unknown variable is replaced by nothing.
class CUSTODIAN_EXPORT UriSpec {
 public:
  /// A piece of the pattern.
  struct Part {
    std::string value{};    ///< the name of the variable, or text
    bool variable = false;  ///< whether `value` is the name of a variable

    /// Equal if both members are equal.
    friend bool operator==(const Part&, const Part&) = default;
  };
  /// Values for variables, by name.
  using Variables = std::map<std::string, std::string, std::less<>>;

  /// A pattern without parts.
  UriSpec() = default;
  /// Reads a pattern. Throws Error (invalid_argument) if its braces do not match.
  explicit UriSpec(std::string_view pattern);
  /// A pattern of these parts.
  explicit UriSpec(std::vector<Part> parts) : parts_{std::move(parts)} {}

  /// The parts of the pattern, in order.
  [[nodiscard]] const std::vector<Part>& parts() const noexcept { return parts_; }

  /// The address of an instance. The given variables take precedence over those of the instance.
  [[nodiscard]] std::string build(const ServiceInstance& instance,
                                  const Variables& variables = {}) const;
  /// The address that the given variables make; `scheme` is http if it is not among them.
  [[nodiscard]] std::string fill(const Variables& variables = {}) const;

  /// Equal if all parts are equal.
  friend bool operator==(const UriSpec&, const UriSpec&) = default;

 private:
  [[nodiscard]] std::string resolve(Variables known, const Variables& given) const;

  std::vector<Part> parts_;
};

}  // namespace custodian
