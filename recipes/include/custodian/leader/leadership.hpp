#pragma once

/// \file
/// What LeaderLatch and LeaderSelector have in common. Value types.

#include <cstdint>
#include <functional>
#include <string>

#include "custodian/error.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/lease/lease_options.hpp"

namespace custodian {

/// Whether a candidate stands.
enum class CandidateState : std::uint8_t {
  latent,   ///< not started
  started,  ///< it leads, or stands for election
  /// It does not stand any more. A LeaderLatch may be started again.
  closed,
};

/// What has become of a leadership.
enum class Leadership : std::uint8_t {
  /// It leads from now on.
  gained,
  ended,  ///< lost, or given up
};

/// Called on the client's callback executor, in the order of the changes.
using LeadershipListener = std::function<void(Leadership)>;

/// What a candidate may be told.
struct CandidateOptions {
  /// Who this is: the data of its node, which others see as the leader's identity. Empty: the
  /// client's identity.
  std::string id{};
  /// The terms of the leadership. With `hold_at_most` it passes on after that time, a second later
  /// at most, whether or not whoever led has finished, and they stand again, at the end of the
  /// queue. `LossPolicy::on_suspended` is Curator's standard error policy, `on_lease_expiry` its
  /// session policy, but on time.
  LeaseOptions lease{};
  /// Told on the callback executor why this candidate is not in the queue at the moment, if that is
  /// so: no permission, a number that nobody can read. It tries again, at the client's retry
  /// policy's pace, until it is closed. Perhaps told after that.
  std::function<void(error_code)> on_error{};
};

}  // namespace custodian
