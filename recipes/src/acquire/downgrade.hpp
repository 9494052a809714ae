#pragma once

/// \file
/// A downgrade acquires the read lock beside the write lock. Other functions here judge what else a
/// holder may acquire.
///
/// The reader's node gets the number of the writer's node, so it sorts right behind the writer and
/// before all others: when the writer's node is deleted, no other writer can come in between. One
/// transaction checks the writer's node and creates the reader's, so its owner has held the lock
/// without a gap and need not list. The nodes have the names that Apache Curator gives them.

#include <boost/asio/awaitable.hpp>
#include <string_view>

#include "acquire/acquire.hpp"

namespace custodian::recipes_detail {

/// Why the holder of `held` cannot acquire the lock: lock_lost; invalid_argument (the lease is
/// another lock's, or another client's); resource_deadlock_would_occur (an upgrade). No error if
/// nothing objects.
[[nodiscard]] error_code objection_to(const LockSpec& spec, const Lease& held);
/// The text that explains an error of objection_to() to the caller. Empty without an error.
[[nodiscard]] std::string_view explain_objection(const error_code& error) noexcept;
/// Whether `held` is of the kind that this lock acquires, exclusive or shared, so that a re-entry
/// only shares its hold.
[[nodiscard]] bool is_of_same_kind(const LockSpec& spec, const Lease& held);

/// Creates a shared node beside the exclusive one that is held, without waiting.
[[nodiscard]] boost::asio::awaitable<Result<Leases>> stand_beside(AcquirePtr acquire);

}  // namespace custodian::recipes_detail
