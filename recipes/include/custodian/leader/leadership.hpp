#pragma once

/// \file
/// The common value types of LeaderLatch and LeaderSelector.

#include <cstdint>
#include <functional>
#include <string>

#include "custodian/error.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/lease/lease_options.hpp"

namespace custodian {

/// Whether a candidate stands for election.
enum class CandidateState : std::uint8_t {
  latent,   ///< not started
  started,  ///< it leads, or stands for election
  /// It does not stand any more. A LeaderLatch may be started again.
  closed,
};

/// A change of a leadership.
enum class Leadership : std::uint8_t {
  /// The candidate leads from now on.
  gained,
  ended,  ///< lost, or given up
};

/// Called on the client's callback executor, in the order of the changes.
using LeadershipListener = std::function<void(Leadership)>;

/// The options of a candidate.
struct CandidateOptions {
  /// Its identity: the data of its node, which others see. Empty: the client's identity.
  std::string id{};
  /// The terms of the leadership. With `hold_at_most` the leadership passes on after that time, or
  /// a second later at most, whether or not the leader has finished; the former leader then stands
  /// again, at the end of the queue. `LossPolicy::on_suspended` is Curator's standard error policy.
  /// `on_lease_expiry` is Curator's session policy, but reports the loss in time.
  LeaseOptions lease{};
  /// Called on the callback executor with the reason when this candidate cannot enter the queue: no
  /// permission, an unreadable number. The candidate tries again, at the pace of the client's retry
  /// policy, until it is closed. The callback may run after that, too.
  std::function<void(error_code)> on_error{};
};

}  // namespace custodian
