#pragma once

/// \file
/// DistributedDoubleBarrier lets a number of processes begin together, and end together: Apache
/// Curator's class of this name, and compatible with it, and with kazoo's DoubleBarrier, on the
/// wire. Each member has an ephemeral node; the member that completes the party creates the node
/// `ready`.
///
/// When not to use it: for phase after phase of the same processes (InterProcessBarrier); if an
/// arrival must count even if its process dies (CountDownLatch); to wait for one event
/// (DistributedBarrier); for parties of more than some hundreds.
///
/// A party is complete when as many members as it needs are there at one moment: the transaction
/// that creates `ready` checks each of them. A party may have more members than it needs. A `ready`
/// that a crashed party has left behind lets nobody in, and is removed. One path serves party after
/// party.
///
/// If members of Curator or kazoo use the same path, their weaker promises apply: a Curator member
/// may complete a party with a member that has just left, and enters after any event.
///
/// An object is one member: it enters, and then leaves; again and again. Between the two it is in
/// the party for as long as its session lives. Destroying the object removes the member's node. The
/// barrier's node is a container; nothing else may be created below it, and its data are the
/// barrier's.
///
/// Threads: any, one operation at a time. Lifetimes: move-only; the client may be destroyed first
/// (operations then fail with closed); an operation under way may outlive it.

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/deadline.hpp"
#include "custodian/export.hpp"

namespace custodian {

/// What a member does if a party is under way without it when it enters.
enum class Late : std::uint8_t {
  joins,  ///< the member is in at once, as Curator's are; the others wait for it when they leave
  waits,  ///< the member waits until that party is over, and belongs to the next one
};

namespace recipes_detail {

class Party;
using PartyPtr = std::shared_ptr<Party>;

CUSTODIAN_EXPORT void start_enter(CorePtr core, CancellationPtr cancellation, PartyPtr party,
                                  Deadline until, Handler<bool> handler);
CUSTODIAN_EXPORT void start_leave(CorePtr core, CancellationPtr cancellation, PartyPtr party,
                                  Deadline until, Handler<bool> handler);

}  // namespace recipes_detail

/// Lets a number of processes begin together, and end together.
/// \copydetails custodian/barriers/distributed_double_barrier.hpp
class CUSTODIAN_EXPORT DistributedDoubleBarrier {
 public:
  /// The greatest number of members that a party may need.
  [[nodiscard]] static constexpr std::int32_t max() noexcept { return 1'000; }

  /// `members` complete a party; all clients of a barrier must give the same number. Throws Error
  /// (invalid_argument) if the path is not valid, or the root; if the number is not positive, or
  /// greater than max(), or so great that a transaction of a party's members is larger than the
  /// servers accept. Contacts no server.
  DistributedDoubleBarrier(const Client& client, std::string path, std::int32_t members,
                           Late late = Late::joins);
  /// A moved-from object may only be destroyed, or assigned to.
  DistributedDoubleBarrier(DistributedDoubleBarrier&&) noexcept = default;
  /// Ends the membership that this object had before.
  DistributedDoubleBarrier& operator=(DistributedDoubleBarrier&& other) noexcept;
  ~DistributedDoubleBarrier();

  /// The path of the node whose children are the members.
  [[nodiscard]] const std::string& path() const noexcept;

  /// \name Entering
  /// Errors, for all: session_lost (the session has ended, and a party was complete with this
  /// member, or may have been: later members have overwritten the names of that party, or the
  /// barrier's node is gone), node_deleted (another client has deleted this member's node),
  /// invalid_argument (the member is in already, or another operation of this object is under way),
  /// request_too_large (there are some thousands of members, whose names do not fit into a
  /// request), no_auth, and those common to all operations of a Client. After an error the member
  /// is not in. The others may count it until its node is gone; if the servers could not be asked
  /// to remove the node, that is at the end of its session at the latest.
  /// \{

  /// Waits without limit until the party is complete, through disconnections and lost sessions.
  /// Completes with: error, true.
  /// Cancellation: total; if the party is complete by then, the member is in, and there is no
  /// error. The call ends when the servers have answered, after twice
  /// `ClientOptions::operation_timeout` at most.
  /// Errors: see above.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_enter(Token&& token) {
    return async_enter_until(Deadline::never(), std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error; `stop` ends it with operation_aborted, unless the party is
  /// complete by then.
  void enter(std::stop_token stop = {});

  /// The same until a deadline, or without limit if the deadline is a default one. At the deadline
  /// the member is taken out by a transaction that the servers refuse if the party is complete; so
  /// all members of a party get the same answer. That takes twice
  /// `ClientOptions::operation_timeout` at most. If the deadline has passed already, the call
  /// completes with false, and sends nothing.
  /// Completes with: error, whether the member is in.
  /// Cancellation: total; if the party is complete by then, the member is in, and there is no
  /// error.
  /// Errors: see above. deadline_exceeded_outcome_unknown: the servers could not be asked to take
  /// the member out.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_enter_until(Deadline until, Token&& token) {
    return initiate<void(error_code, bool), &recipes_detail::start_enter>(
        core_, std::forward<Token>(token), party_, until);
  }
  /// The same with a duration.
  template <typename Token>
  auto async_enter_for(std::chrono::nanoseconds time, Token&& token) {
    return async_enter_until(Deadline{time}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error; `stop` ends it with operation_aborted, unless the party is
  /// complete by then. If no thread runs the client's context, the call throws
  /// deadline_exceeded_outcome_unknown, twice `ClientOptions::operation_timeout` and a tenth of a
  /// second after the deadline (or after the call, if the deadline has passed already).
  [[nodiscard]] bool try_enter_until(Deadline until, std::stop_token stop = {});
  /// The same with a duration.
  [[nodiscard]] bool try_enter_for(std::chrono::nanoseconds time, std::stop_token stop = {}) {
    return try_enter_until(Deadline{time}, std::move(stop));
  }
  /// \}

  /// \name Leaving
  /// Errors, for all: session_lost (the session has ended since the member entered), node_deleted,
  /// invalid_argument (the member is not in, or another operation of this object is under way),
  /// no_auth, and those common to all operations of a Client. However the call ends, the member has
  /// left, unless another operation of this object is under way.
  /// \{

  /// Leaves, and waits without limit until every member that is in at that moment has left, too.
  /// Completes with: error, true.
  /// Cancellation: total; the member has left.
  /// Errors: see above.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_leave(Token&& token) {
    return async_leave_until(Deadline::never(), std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error; `stop` ends it with operation_aborted.
  void leave(std::stop_token stop = {});

  /// The same until a deadline, or without limit if the deadline is a default one. If the deadline
  /// has passed already, the member leaves, and the call completes with false.
  /// Completes with: error, whether all others have left in time.
  /// Cancellation: total; the member has left.
  /// Errors: see above.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_leave_until(Deadline until, Token&& token) {
    return initiate<void(error_code, bool), &recipes_detail::start_leave>(
        core_, std::forward<Token>(token), party_, until);
  }
  /// The same with a duration.
  template <typename Token>
  auto async_leave_for(std::chrono::nanoseconds time, Token&& token) {
    return async_leave_until(Deadline{time}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error; `stop` ends it with operation_aborted. If no thread runs the
  /// client's context, the call returns false a tenth of a second after the deadline; if the
  /// deadline has passed already, a tenth of a second after `ClientOptions::operation_timeout`.
  [[nodiscard]] bool try_leave_until(Deadline until, std::stop_token stop = {});
  /// The same with a duration.
  [[nodiscard]] bool try_leave_for(std::chrono::nanoseconds time, std::stop_token stop = {}) {
    return try_leave_until(Deadline{time}, std::move(stop));
  }
  /// \}

 private:
  CorePtr core_;
  recipes_detail::PartyPtr party_;
};

}  // namespace custodian
