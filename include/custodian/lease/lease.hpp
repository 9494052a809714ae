#pragma once

/// \file
/// Lease is the ownership of a lock, as an object, and the truth about it.
///
/// A lock over a network is held until the servers have not heard of its holder's session for the
/// session timeout. A holder that is cut off cannot ask them; but it knows when it last reached
/// them, and so when its hold may end: the *lease clock* counts from there. The promise: a holder
/// is notified that it has lost the lock *before* the servers can give it to another, unless its
/// process was stopped meanwhile. For a process that was stopped there are fencing (`token()`) and
/// guarded writes (`check()`), which hold always.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "custodian/authoring/bridge.hpp"
#include "custodian/authoring/owned_node.hpp"
#include "custodian/connection_state.hpp"
#include "custodian/export.hpp"
#include "custodian/lease/fencing_token.hpp"
#include "custodian/lease/lease_options.hpp"
#include "custodian/lease/revocation.hpp"
#include "custodian/retry_policy.hpp"
#include "custodian/transaction.hpp"

namespace custodian {

/// The state of a lease at the moment.
///
///     held <--> suspended        a connection fails, and another stands
///     held, suspended --> lost   for ever, whatever comes later
enum class LeaseState {
  /// No other client can have the lock.
  held,
  /// There is no connection, or its server is silent; the lease clock still runs. Short work may be
  /// finished.
  suspended,
  released,  ///< by its holder; an empty lease
  lost,      ///< or ended; see LossReason
};
/// The name of the enumerator.
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(LeaseState state) noexcept;

/// Why a lease was lost: the first reason, where several come together.
enum class LossReason {
  none,           ///< it is not lost
  lease_expired,  ///< the lease clock has run out: the servers may end the session now
  session_over,   ///< its session has ended
  node_deleted,   ///< an operator, or another client, has deleted the lease's node
  suspended,      ///< the connection failed, under `LossPolicy::on_suspended`
  held_too_long,  ///< the lease's maximum time is up (`hold_at_most`)
  closed,         ///< the client was closed
};
/// In words, for people.
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(LossReason reason) noexcept;

/// Called on the client's callback executor, in the order of the changes.
using LeaseListener = std::function<void(LeaseState)>;

class Lease;
struct ObservedLock;
/// What a lock shows itself as to an observer; null if there is none.
using ObservedLockPtr = std::shared_ptr<const ObservedLock>;

namespace detail {
class Holder;
using HolderPtr = std::shared_ptr<Holder>;
class LockNode;
using LockNodePtr = std::shared_ptr<LockNode>;

/// The data of an own node.
using NodeData = std::shared_ptr<const std::string>;

/// For authors of recipes, on the client's strand: makes a lease of a node that is first in its
/// queue, and that was created with these data: the client writes them back when a request
/// (`revoke_message`) has replaced them. Asks the servers before that, if less than a third of the
/// session timeout is left on the lease clock, and again by the policy. If it fails or is
/// cancelled, the node is deleted. The client's observer hears of the lease under the name in
/// `observed` (see make_observed()); not if that is null. Errors: session_lost, node_deleted,
/// session_timeout_too_short, operation_aborted, closed; and not_connected, connection_loss or
/// throttled, if the policy gives up.
CUSTODIAN_EXPORT void start_lease(std::shared_ptr<ClientCore> core, CancellationPtr cancellation,
                                  OwnedNode node, NodeData data, LeaseOptions options,
                                  RetryPolicy retry, ObservedLockPtr observed,
                                  Handler<Lease> handler);
CUSTODIAN_EXPORT void start_wait_lost(std::shared_ptr<ClientCore> core,
                                      CancellationPtr cancellation, HolderPtr hold,
                                      Handler<> handler);
CUSTODIAN_EXPORT void start_wait_state(std::shared_ptr<ClientCore> core,
                                       CancellationPtr cancellation, HolderPtr hold,
                                       LeaseState known, Handler<LeaseState> handler);
CUSTODIAN_EXPORT void start_assert_held(std::shared_ptr<ClientCore> core,
                                        CancellationPtr cancellation, HolderPtr hold,
                                        Handler<> handler);
/// Throws Error(invalid_argument, ...), naming the rule; lock_lost without a hold.
CUSTODIAN_EXPORT void check_identity(const HolderPtr& hold, std::string_view operation,
                                     std::string_view identity);
CUSTODIAN_EXPORT void start_set_identity(std::shared_ptr<ClientCore> core,
                                         CancellationPtr cancellation, HolderPtr hold,
                                         std::string identity, Handler<> handler);
[[nodiscard]] CUSTODIAN_EXPORT std::shared_ptr<ClientCore> core_of(const HolderPtr& hold,
                                                                   std::string_view operation);

/// For authors of recipes whose holders hold for long, on the strand: has the node of the lease,
/// which is not empty, watched. Its deletion by another client is noticed at once then, and not
/// only by the next beat. Costs a read, unless there is a watch already.
CUSTODIAN_EXPORT void watch_node(const Lease& lease);

// For authors of recipes whose holders follow each other on one node: the node that a lease stands
// on, which is not empty.
[[nodiscard]] CUSTODIAN_EXPORT const LockNodePtr& lock_node(const Lease& lease) noexcept;

/// Called when a holder has released its last lease, in the destructor of that, on any thread: it
/// must not block or throw. The function owns the node from then on, lost or not: destroying the
/// node releases the lock. Not called in the child of a fork.
using PassOn = std::function<void(LockNodePtr node)>;
/// Sets the function. Call it before the first holder has its lease.
CUSTODIAN_EXPORT void set_pass_on(const LockNodePtr& node, PassOn pass_on);
/// False if it is lost, suspended or too near to the end of its lease, after keep(), and if a
/// client has asked for it and this one has seen that (see make_revocable()). Any thread.
[[nodiscard]] CUSTODIAN_EXPORT bool may_be_passed_on(const LockNodePtr& node) noexcept;
/// Makes the lease of the next holder, when the last one has released. Any thread.
[[nodiscard]] CUSTODIAN_EXPORT Lease next_lease(const LockNodePtr& node);
/// The node must not be passed on after the present holder. Any thread.
CUSTODIAN_EXPORT void keep(const LockNodePtr& node) noexcept;
}  // namespace detail

/// Owns a lock; ownership is this object, so it may cross threads and coroutines. Move-only; an
/// empty one holds nothing. Several leases may share one hold (see
/// `share()`); the lock is released with the last of them.
///
/// Destroying it releases in the background: the node is deleted, with retries, until it is gone or
/// the session is over. Neither that nor release() blocks or throws. A lost lease is released, too:
/// the client keeps a session that its clock has given up until the last lease on it is released.
///
/// Threads: different Lease objects may be used by different threads at once; one object by one
/// thread at a time. Lifetimes: may outlive the lock object and the client; closing the client
/// loses it.
class [[nodiscard]] CUSTODIAN_EXPORT Lease {
 public:
  /// Holds nothing.
  Lease() noexcept = default;
  /// A moved-from object is empty.
  Lease(Lease&& other) noexcept = default;
  /// Releases what it held before. A moved-from object is empty.
  Lease& operator=(Lease&& other) noexcept;
  ~Lease();

  /// Whether there is something to release; state() says whether it is lost.
  [[nodiscard]] explicit operator bool() const& noexcept { return hold_ != nullptr; }
  /// Not of a temporary, which would release the lock before the condition's body runs: give it a
  /// name, as in `if (auto result = mutex.try_acquire())`.
  explicit operator bool() const&& = delete;

  /// Releases it; does nothing if empty. The lease is empty afterwards.
  void release() noexcept;

  /// \name Is it still held?
  /// \{

  /// Reads the boot clock, and asks no server: cheap, and right after a machine's suspension, too.
  [[nodiscard]] LeaseState state() const noexcept;
  /// Why it is lost; none if it is not.
  [[nodiscard]] LossReason loss_reason() const noexcept;
  /// How long the lease would last from now on without another answer from the servers; zero if it
  /// is lost or empty. Grows again with each answer of theirs.
  [[nodiscard]] std::chrono::nanoseconds remaining() const noexcept;

  /// Stops when the lease is lost; never after it was released, nor if it is empty. Callbacks on it
  /// (`std::stop_callback`) run on the client's callback executor: they must not keep it busy, for
  /// other leases' losses are reported there, too. The token is stopped there as well, so code that
  /// polls it learns as late as a listener; state() is never late.
  [[nodiscard]] std::stop_token lost() const noexcept;

  /// Waits until the lease is lost; `co_await (job() || lease.async_wait_lost(use_awaitable))`.
  /// Completes with: error; none when it is lost.
  /// Cancellation: total.
  /// Errors: operation_aborted, also when it is released first.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_wait_lost(Token&& token) const {
    return initiate<void(error_code), &detail::start_wait_lost>(
        detail::core_of(hold_, "async_wait_lost"), std::forward<Token>(token), hold_);
  }

  /// Waits until the state is another than `known`, at once if it is already.
  /// Completes with: error, the state. Otherwise as async_wait_lost().
  template <typename Token>
  auto async_wait_state(LeaseState known, Token&& token) const {
    return initiate<void(error_code, LeaseState), &detail::start_wait_state>(
        detail::core_of(hold_, "async_wait_state"), std::forward<Token>(token), hold_, known);
  }

  /// Called with every change from now on, until the subscription or the hold is gone.
  [[nodiscard]] Subscription on_state(LeaseListener listener) const;

  /// Asks a quorum of the servers whether the lease is held. True when they were asked, and not any
  /// longer: guard writes with check() or token() instead where that is possible.
  /// Errors: lock_lost, deadline_exceeded, and those common to all operations.
  template <typename Token>
  auto async_assert_held(Token&& token) const {
    return initiate<void(error_code), &detail::start_assert_held>(
        detail::core_of(hold_, "async_assert_held"), std::forward<Token>(token), hold_);
  }
  /// The same, blocking. Throws Error.
  void assert_held(std::stop_token stop = {}) const;
  /// \}

  /// \name For resources that must not believe an old holder
  /// \{

  /// The fencing token. An empty lease has 0, smaller than any other.
  [[nodiscard]] FencingToken token() const noexcept;
  /// For a transaction: passes only while the lock is held. The node's name is unique, so that its
  /// existence means just that; with HandOff::cohort it means that this process holds the lock,
  /// perhaps by a later holder. Throws Error (lock_lost) if empty.
  [[nodiscard]] TransactionOperation check() const;
  /// \}

  /// \name When another client wants it
  /// \{

  /// Has the listener called whenever a client asks for the lock (see `revoke()`), and at once if
  /// one has asked already, until the subscription or the hold is gone. The lock stays held until
  /// its holder releases it. Several requests in a short time may cause one call. Costs a watch on
  /// the lease's node; a client that may not read its nodes is not notified (the log says so). The
  /// client then writes the node's identity back, which a request replaces; it does not wait for
  /// the listeners.
  [[nodiscard]] Subscription make_revocable(RevocationListener listener) const;
  /// \}

  /// \name What others see
  /// \{

  /// Changes the identity that others see of this holder (`Participant::identity`: participants(),
  /// a LeaderObserver, Curator's `getLeader().getId()`): the data of the node, until the lock is
  /// released. For a leader that shows more than its name: an address, or its progress. A later
  /// hold of the same lock or candidate begins with the identity in its options again. Empty: the
  /// client's identity. A node that others have seen under another identity is not passed on
  /// (HandOff::cohort): the next holder has one of its own.
  ///
  /// Only the node of this hold is written, and only while it is held. A request to release the
  /// lock (`revoke()`) that the node still bears stays there, and fails this. A lost request is
  /// repeated; of several changes the one that was begun last stays. Throws Error
  /// (invalid_argument) for an identity that is too large, or is `revoke_message`.
  /// Completes with: error; none when the servers have the identity.
  /// Cancellation: total; what was sent may still be applied.
  /// Errors: lock_lost, also when it is released first; bad_version (a client has asked for the
  /// lock); no_auth, and those common to all operations.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_set_identity(std::string identity, Token&& token) const {
    detail::check_identity(hold_, "async_set_identity", identity);
    return initiate<void(error_code), &detail::start_set_identity>(
        detail::core_of(hold_, "async_set_identity"), std::forward<Token>(token), hold_,
        std::move(identity));
  }
  /// The same, blocking. Throws Error.
  void set_identity(std::string identity, std::stop_token stop = {}) const;
  /// \}

  /// \name Sharing
  /// \{

  /// The path of the node that stands for the hold; empty if empty.
  [[nodiscard]] const std::string& node() const noexcept;
  /// Leases that share the hold, this one included; 0 if empty.
  [[nodiscard]] int hold_count() const noexcept;
  /// Another lease on the same hold, lost or not; empty if this one is.
  [[nodiscard]] Lease share() const noexcept;

  /// For authors of recipes; see detail::start_lease.
  explicit Lease(detail::HolderPtr hold) noexcept;
  /// For authors of recipes: what `await<&detail::start_wait_lost>` wants; null if empty.
  [[nodiscard]] const detail::HolderPtr& hold() const noexcept { return hold_; }
  /// For authors of recipes: the client's; null if empty.
  [[nodiscard]] CorePtr core() const noexcept;
  /// \}

 private:
  detail::HolderPtr hold_;
};

}  // namespace custodian
