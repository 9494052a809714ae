#pragma once

/// \file
/// DistributedDoubleBarrier lets a number of processes begin together, and end together: Apache
/// Curator's class of this name, and compatible with it, and with kazoo's DoubleBarrier, on the
/// wire. Each member has an ephemeral node; the member that completes the party creates the node
/// `ready`.
///
/// When not to use it: for rounds of the same processes without an end of their own
/// (InterProcessBarrier); if an arrival counts though its process dies (CountDownLatch); to wait
/// for one event (DistributedBarrier); for parties of more than some hundreds.
///
/// A party is complete when so many members are there at one moment: the transaction that creates
/// `ready` checks each of them. A party may have more members than it needs. A `ready` that a
/// crashed party has left behind lets nobody in, and is removed. One path serves party after party.
///
/// Beside Curator or kazoo on one path the promises are theirs: a member of Curator's may complete
/// a party with one that has just left, and lets itself in after any event.
///
/// An object is one member: it enters, and then leaves; again and again. Between the two it is in
/// the party for as long as its session lives. Destroying it removes its node. The barrier's node
/// is a container; nothing else may be created below it, and its data are the barrier's.
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

/// What a member does that comes when a party is under way without it.
enum class Late : std::uint8_t {
  joins,  ///< it is in at once, and the others wait for it when they leave; as Curator's are
  waits,  ///< it waits until that party is over, and belongs to the next one
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
  /// Ends the membership of the object before.
  DistributedDoubleBarrier& operator=(DistributedDoubleBarrier&& other) noexcept;
  ~DistributedDoubleBarrier();

  /// The path of the node whose children are the members.
  [[nodiscard]] const std::string& path() const noexcept;

  /// \name Entering
  /// Errors, for all: session_lost (the session has ended, and a party was complete with this
  /// member, or may have been: others have come in since and have left no trace of it, or the
  /// barrier's node is gone), node_deleted (somebody has deleted this member's node),
  /// invalid_argument (it is in already, or another operation is under way), request_too_large (so
  /// many members are there, some thousands, that their names are no request), no_auth, and those
  /// common to all operations of a Client. With an error the member is not in; others may count it
  /// until its node is gone: where the servers could not be asked, when its session ends at the
  /// latest.
  /// \{

  /// Waits without limit until the party is complete, through disconnections and lost sessions.
  /// Completes with: error, true.
  /// Cancellation: total; if the party is complete by then, the member is in, and no error. It ends
  /// when the servers have answered, twice an operation's time later at most.
  /// Errors: see above.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_enter(Token&& token) {
    return async_enter_until(Deadline::never(), std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error; `stop` ends it with operation_aborted, unless the party is
  /// complete by then.
  void enter(std::stop_token stop = {});

  /// The same until a deadline, or without limit if that is a default one. The member is taken out
  /// again by a transaction that the servers refuse if the party is complete: so all members of a
  /// party learn the same. That takes twice an operation's time more at most. A deadline that has
  /// passed already: false, and nothing is sent.
  /// Completes with: error, whether the member is in.
  /// Cancellation: total; if the party is complete by then, the member is in, and no error.
  /// Errors: see above. deadline_exceeded_outcome_unknown: the servers could not be asked.
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
  /// complete by then. If no thread runs the client's context it throws
  /// deadline_exceeded_outcome_unknown, twice an operation's time after the deadline.
  [[nodiscard]] bool try_enter_until(Deadline until, std::stop_token stop = {});
  /// The same with a duration.
  [[nodiscard]] bool try_enter_for(std::chrono::nanoseconds time, std::stop_token stop = {}) {
    return try_enter_until(Deadline{time}, std::move(stop));
  }
  /// \}

  /// \name Leaving
  /// Errors, for all: session_lost (the session has ended since the member entered), node_deleted,
  /// invalid_argument (it is not in, or another operation is under way), no_auth, and those common
  /// to all operations of a Client. However it ends, the member has left.
  /// \{

  /// Leaves, and waits without limit until all have left that are in when it leaves.
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

  /// The same until a deadline, or without limit if that is a default one.
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
  /// client's context it returns false, a tenth of a second after the deadline.
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
