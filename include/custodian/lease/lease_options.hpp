#pragma once

/// \file
/// LeaseOptions are the terms of a lease. Value types.

#include <chrono>
#include <optional>

#include "custodian/export.hpp"

namespace custodian {

/// When a lease counts as lost.
enum class LossPolicy {
  /// When another client may get the lock, and not before: a short disconnection costs nothing.
  on_lease_expiry,
  /// As soon as the connection fails: for work that is better stopped early. Curator's standard
  /// policy.
  on_suspended,
};

/// The terms of one lease, or of all leases of a lock.
struct LeaseOptions {
  /// Default: `ClientOptions::loss_policy`.
  std::optional<LossPolicy> loss_policy{};
  /// The lease ends by itself after this long, by the boot clock (held_too_long). The lock passes
  /// on when the callbacks on `Lease::lost()` have returned, or a second later. Must be positive.
  /// Default: no limit.
  std::optional<std::chrono::nanoseconds> hold_at_most{};
};

/// Whether the terms are valid: a maximum time must be positive.
[[nodiscard]] CUSTODIAN_EXPORT bool is_valid(const LeaseOptions& options) noexcept;

}  // namespace custodian
