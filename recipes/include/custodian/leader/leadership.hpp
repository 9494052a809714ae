#pragma once

/// \file
/// The value types that LeaderLatch and LeaderSelector have in common.

#include <cstdint>
#include <functional>
#include <string>

#include "custodian/error.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/lease/lease_options.hpp"

namespace custodian {

/// Whether a candidate stands for election.
enum class CandidateState : std::uint8_t {
  latent,   ///< the candidate was not started yet
  started,  ///< the candidate leads, or stands for election
  /// The candidate does not stand any more. A LeaderLatch may be started again.
  closed,
};

/// A change of a leadership.
enum class Leadership : std::uint8_t {
  /// The candidate leads from now on.
  gained,
  ended,  ///< the candidate has lost the leadership, or given it up
};

/// Receives each change of a candidate's leadership. Called on the client's callback executor, in
/// the order of the changes.
using LeadershipListener = std::function<void(Leadership)>;

/// The options of a candidate.
struct CandidateOptions {
  /// The candidate's identity: the data of its node, which others see. Empty: the client's
  /// identity.
  std::string id{};
  /// The terms of the leadership. With `hold_at_most` the leadership passes on after that time, or
  /// a second later at most, whether or not the leader has finished; the former leader then stands
  /// again, at the end of the queue. `LossPolicy::on_suspended` is Curator's standard error policy.
  /// `on_lease_expiry` is like Curator's session policy, but reports a loss before another
  /// candidate can lead.
  LeaseOptions lease{};
  /// Called on the callback executor with the reason when this candidate cannot enter the queue: no
  /// permission, or an unreadable sequence number. The candidate tries again, with the pauses of
  /// the client's retry policy, until it is closed. The callback may still run after that.
  std::function<void(error_code)> on_error{};
};

}  // namespace custodian
