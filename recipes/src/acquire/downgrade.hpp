#pragma once

/// \file
/// A downgrade acquires the read lock beside the write lock; further functions judge what else a
/// holder may acquire.
///
/// The reader's node gets the number of the writer's, with which it sorts behind that and before
/// all others: when the writer's goes, no writer can come in between. Its creation is one
/// transaction with a check of the writer's node, so its owner has held the lock without a gap, and
/// need not list. (Apache Curator's names.)

#include <boost/asio/awaitable.hpp>
#include <string_view>

#include "acquire/acquire.hpp"

namespace custodian::recipes_detail {

/// Why a lock cannot be acquired by the holder of this lease: lock_lost, invalid_argument (of
/// another lock), resource_deadlock_would_occur (an upgrade).
[[nodiscard]] error_code objection_to(const LockSpec& spec, const Lease& held);
/// The message for the caller. Empty if there is no objection.
[[nodiscard]] std::string_view explain_objection(const error_code& error) noexcept;
/// Whether it is a lease on this same lock, so that it need only be shared.
[[nodiscard]] bool is_of_same_kind(const LockSpec& spec, const Lease& held);

/// Creates a shared node beside the exclusive one that is held, without waiting.
[[nodiscard]] boost::asio::awaitable<Result<Leases>> stand_beside(AcquirePtr acquire);

}  // namespace custodian::recipes_detail
