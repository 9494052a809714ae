#pragma once

/// \file
/// LeaseOptions are the terms of a lease. Value types.

#include <chrono>
#include <optional>

#include "custodian/export.hpp"

namespace custodian {

/// When a lease counts as lost.
enum class LossPolicy {
  /// A lease is lost when another client may get the lock, and not before: a short disconnection
  /// costs nothing.
  on_lease_expiry,
  /// A lease is lost as soon as the connection fails: for work that is better stopped early.
  /// Curator's standard policy.
  on_suspended,
};

/// The terms of one lease, or of all leases of a lock.
struct LeaseOptions {
  /// When the lease counts as lost. Default: `ClientOptions::loss_policy`.
  std::optional<LossPolicy> loss_policy{};
  /// The maximum time of the lease: after it, by the boot clock, the lease is lost (held_too_long).
  /// The lock is then released when the callbacks on `Lease::lost()` have returned, and after one
  /// second at the latest. Must be positive. Default: no limit.
  std::optional<std::chrono::nanoseconds> hold_at_most{};
};

/// Whether the terms are valid: a maximum time must be positive.
[[nodiscard]] CUSTODIAN_EXPORT bool is_valid(const LeaseOptions& options) noexcept;

}  // namespace custodian
