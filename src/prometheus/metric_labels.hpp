#pragma once

/// \file
/// These functions turn events into label values, which are short, few, and never change. Pure.

#include <array>
#include <string>
#include <string_view>

#include "custodian/observer.hpp"

namespace custodian::prometheus_detail {

// All enumerators of each type.
inline constexpr std::array all_outcomes{AcquireOutcome::acquired, AcquireOutcome::late,
                                         AcquireOutcome::declined, AcquireOutcome::cancelled,
                                         AcquireOutcome::failed};
inline constexpr std::array all_wait_outcomes{WaitOutcome::passed, WaitOutcome::late,
                                              WaitOutcome::spurious, WaitOutcome::cancelled,
                                              WaitOutcome::failed};
inline constexpr std::array all_loss_reasons{LossReason::lease_expired, LossReason::session_over,
                                             LossReason::node_deleted,  LossReason::suspended,
                                             LossReason::held_too_long, LossReason::closed};
inline constexpr std::array all_kept_lock_ends{
    KeptLockEnd::wanted,  KeptLockEnd::own_contender, KeptLockEnd::unused, KeptLockEnd::aged,
    KeptLockEnd::crowded, KeptLockEnd::unusable,      KeptLockEnd::closed};
inline constexpr std::array all_connection_states{
    ConnectionState::connecting,  ConnectionState::connected, ConnectionState::suspended,
    ConnectionState::reconnected, ConnectionState::lost,      ConnectionState::closed};

/// The enumerator's name.
[[nodiscard]] std::string_view label_of(LossReason reason) noexcept;
/// The name of the enumerator of Errc or ServerErrc. For a code of another category, or without a
/// name: "<category>_<number>".
[[nodiscard]] std::string label_of(const error_code& error);

}  // namespace custodian::prometheus_detail
