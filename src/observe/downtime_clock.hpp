#pragma once

/// \file
/// DowntimeClock measures how long a client has had no connection. Pure: the caller passes in
/// states and times.

#include <optional>

#include "custodian/connection_state.hpp"
#include "custodian/session/session.hpp"

namespace custodian::detail {

class DowntimeClock {
 public:
  using Time = BootClock::time_point;
  using Duration = BootClock::duration;

  /// A client has no connection at the beginning.
  explicit DowntimeClock(Time began) : since_{began} {}

  /// Records a change of state. Returns how long the client has had no connection up to now; zero
  /// if it had one until now.
  [[nodiscard]] Duration on_state(ConnectionState state, Time now) noexcept {
    const Duration away = since_ ? now - *since_ : Duration{0};
    if (is_connected(state)) {
      since_.reset();
    } else if (!since_) {
      since_ = now;
    }
    return away;
  }

 private:
  std::optional<Time> since_;  ///< the beginning of the outage; nothing while there is a connection
};

}  // namespace custodian::detail
