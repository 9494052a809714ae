#pragma once

/// \file
/// ServeRoutes says what a target asks for. Pure.

#include <cstdint>
#include <string>

#include "http/http_target.hpp"

namespace custodian::cli {

enum class ServeRoute : std::uint8_t {
  unknown,
  file,  ///< a file of the page
  healthz,
  metrics,
  locks,
  lock,
  cycles,
  servers,
  events,
};

struct ServeTarget {
  ServeRoute route = ServeRoute::unknown;
  /// Of `file` the file's name, of `lock` the path of the lock.
  std::string argument{};

  friend bool operator==(const ServeTarget&, const ServeTarget&) = default;
};

[[nodiscard]] ServeTarget route_of(const HttpTarget& target);

/// Whether a target shows nothing of the servers, so that it needs no token: the page asks for one.
[[nodiscard]] bool is_for_everybody(const HttpTarget& target);

}  // namespace custodian::cli
