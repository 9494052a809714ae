#pragma once

/// \file
/// ServiceInstance describes one process that offers a service: where it can be reached, and what
/// its users need to know about it. Apache Curator's class of this name has the same members. A
/// value type.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "custodian/discovery/uri_spec.hpp"
#include "custodian/export.hpp"

namespace custodian {

/// How long the node of an instance lives, and how it is named.
enum class ServiceType : std::uint8_t {
  dynamic,             ///< as long as the session of the process that has registered the instance
  fixed,               ///< until it is unregistered; Curator calls it STATIC
  permanent,           ///< until it is unregistered, as `fixed`; readers may tell the two apart
  dynamic_sequential,  ///< as `dynamic`; the servers append a number to the node's name
};

/// The name of the type as it stands in JSON: "DYNAMIC", "STATIC", "PERMANENT",
/// "DYNAMIC_SEQUENTIAL".
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(ServiceType type) noexcept;

/// One process that offers a service.
struct ServiceInstance {
  /// When an instance was registered, in milliseconds, by the clock of the host that registered it.
  using Time = std::chrono::sys_time<std::chrono::milliseconds>;

  /// The name of the service.
  std::string name{};
  /// Tells the instances of a service apart. A registration gives a random uuid to an instance
  /// without one. A process that is restarted under the same id takes over the node of its earlier
  /// life. Two processes with one id take the node from each other again and again.
  std::string id{};
  /// The host, by the name or address at which users reach it.
  std::optional<std::string> address{};
  /// The port.
  std::optional<std::int32_t> port{};
  /// The port for TLS.
  std::optional<std::int32_t> ssl_port{};
  /// What else users of the service need to know: a JSON text, which is passed on as it is.
  /// `text_payload()` and `object_payload()` make one.
  std::optional<std::string> payload{};
  /// When the instance was registered. A registration sets it if it is empty.
  std::optional<Time> registered{};
  /// How long the node lives.
  ServiceType type = ServiceType::dynamic;
  /// The pattern for the instance's address.
  std::optional<UriSpec> uri_spec{};
  /// Whether the instance may be used. A ServiceProvider leaves disabled ones out.
  bool enabled = true;

  /// The address that `uri_spec` makes of the instance; empty without one.
  [[nodiscard]] CUSTODIAN_EXPORT std::string uri(const UriSpec::Variables& variables = {}) const;

  /// Equal if all members are equal.
  friend bool operator==(const ServiceInstance&, const ServiceInstance&) = default;
};

}  // namespace custodian
