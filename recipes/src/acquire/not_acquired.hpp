#pragma once

/// \file
/// These functions say why an acquire has ended without a lease. Pure.

#include "custodian/error.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/locks/acquire.hpp"

namespace custodian::recipes_detail {

/// Whether the error means that no server answered, or that none did in time. Neither a mistake of
/// the caller nor a refusal by the servers is such an error.
[[nodiscard]] bool is_lack_of_answer(const error_code& error) noexcept;

/// The reason, by what the acquire saw until its end. A contender that was seen ahead counts as
/// still ahead: in doubt the lock counts as held.
[[nodiscard]] NotAcquired why_not_acquired(bool somebody_ahead, bool connected) noexcept;

/// The error of an acquire that, before it had all its leases, lost one of them for this reason.
[[nodiscard]] error_code error_of(LossReason reason) noexcept;

}  // namespace custodian::recipes_detail
