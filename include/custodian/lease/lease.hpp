#pragma once

/// \file
/// Lease owns a lock, and knows whether the lock is still held.
///
/// The servers may give a lock to another client when they have not heard from its holder's session
/// for the session timeout. A holder that is cut off cannot ask the servers. But it knows when it
/// last reached them, and so how long the lock is certainly its own: the *lease clock* counts from
/// that moment. The promise: a holder is notified that it has lost the lock *before* the servers
/// can give it to another client, unless the holder's process was stopped meanwhile. Fencing
/// (`token()`) and guarded writes (`check()`) protect always, even when the process was stopped.

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
///     held <--> suspended        the connection fails, or is back
///     held, suspended --> lost   for ever, whatever comes later
enum class LeaseState {
  /// No other client can have the lock.
  held,
  /// There is no connection, or its server is silent; the lease clock still runs. Short work may be
  /// finished.
  suspended,
  released,  ///< the holder has released the lock, or the lease is empty
  lost,      ///< the lease ended without a release; see LossReason
};
/// The name of the enumerator.
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(LeaseState state) noexcept;

/// Why a lease was lost. If there are several reasons, the first counts.
enum class LossReason {
  none,           ///< the lease is not lost
  lease_expired,  ///< the lease clock has run out: the servers may end the session now
  session_over,   ///< the lease's session has ended
  node_deleted,   ///< an operator, or another client, has deleted the lease's node
  suspended,      ///< the connection failed, under `LossPolicy::on_suspended`
  held_too_long,  ///< the lease's maximum time is up (`hold_at_most`)
  closed,         ///< the client was closed
};
/// The reason in words, for people.
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(LossReason reason) noexcept;

/// Receives the new state of a lease. Called on the client's callback executor, in the order of the
/// changes.
using LeaseListener = std::function<void(LeaseState)>;

class Lease;
struct ObservedLock;
/// The recipe and path under which an observer sees a lock; null without an observer.
using ObservedLockPtr = std::shared_ptr<const ObservedLock>;

namespace detail {
class Holder;
using HolderPtr = std::shared_ptr<Holder>;
class LockNode;
using LockNodePtr = std::shared_ptr<LockNode>;

/// The data of a node that this client owns.
using NodeData = std::shared_ptr<const std::string>;

/// Makes a lease of `node`, which is first in its queue and was created with `data`. For authors of
/// recipes; called on the client's strand. The client writes `data` back when a request
/// (`revoke_message`) has replaced them. If less than a third of the session timeout is left on the
/// lease clock, the function first makes a request to the servers, and repeats it as `retry` says.
/// If the function fails or is cancelled, the node is deleted. The client's observer is notified of
/// the lease under the name in `observed` (see make_observed()), unless `observed` is null. Errors:
/// session_lost, node_deleted, session_timeout_too_short, operation_aborted, closed; and
/// not_connected, connection_loss or throttled, if the policy gives up.
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
/// Throws Error: invalid_argument, naming the rule that the identity breaks; lock_lost if `hold` is
/// null.
CUSTODIAN_EXPORT void check_identity(const HolderPtr& hold, std::string_view operation,
                                     std::string_view identity);
CUSTODIAN_EXPORT void start_set_identity(std::shared_ptr<ClientCore> core,
                                         CancellationPtr cancellation, HolderPtr hold,
                                         std::string identity, Handler<> handler);
[[nodiscard]] CUSTODIAN_EXPORT std::shared_ptr<ClientCore> core_of(const HolderPtr& hold,
                                                                   std::string_view operation);

/// Watches the node of a lease, which must not be empty. A deletion by another client is then
/// noticed at once, and not only by the next beat. Costs a read, unless the node is watched
/// already. For authors of recipes whose leases are held for long; called on the strand.
CUSTODIAN_EXPORT void watch_node(const Lease& lease);

// The node of a lease, which must not be empty. For authors of recipes whose holders follow each
// other on one node.
[[nodiscard]] CUSTODIAN_EXPORT const LockNodePtr& lock_node(const Lease& lease) noexcept;

/// Receives the node of a holder that releases its last lease. From then on the function owns the
/// node, even a lost one: destroying the node releases the lock. Called within that release, on any
/// thread: it must not block or throw. Not called in the child of a fork.
using PassOn = std::function<void(LockNodePtr node)>;
/// Called on the strand, once, when a node may no longer be passed on: see end_passing().
using PassingEnded = std::function<void()>;
/// Sets the functions that are called when a node's holder releases, and when passing has ended.
/// Called on the strand, before the first holder has its lease.
CUSTODIAN_EXPORT void set_pass_on(const LockNodePtr& node, PassOn pass_on,
                                  PassingEnded passing_ended);
/// Whether a node may be passed on to a next holder now: has_passing_ended() is false, and the next
/// holder would have time to work, and to be notified of a loss. Any thread.
[[nodiscard]] CUSTODIAN_EXPORT bool may_be_passed_on(const LockNodePtr& node) noexcept;
/// Whether a node may no longer be passed on, for ever: see end_passing(). Reads no clock. Any
/// thread.
[[nodiscard]] CUSTODIAN_EXPORT bool has_passing_ended(const LockNodePtr& node) noexcept;
/// Which events of a holder an observer is notified of.
enum class Events : std::uint8_t {
  all,
  of_loss_only,  ///< the begin and the release of its lease are reported only if the lease is lost
};
/// Makes the lease of the next holder, after the previous holder has released. Undoes set_idle().
/// Any thread.
[[nodiscard]] CUSTODIAN_EXPORT Lease next_lease(const LockNodePtr& node,
                                                Events events = Events::all);
/// Marks a node that has no holder and is kept: see Client::kept_locks(). Beats do not check such a
/// node. Any thread.
CUSTODIAN_EXPORT void set_idle(const LockNodePtr& node) noexcept;
/// Whether the client has an idle node at this path. Called on the strand.
[[nodiscard]] CUSTODIAN_EXPORT bool has_idle_node(ClientCore& core, std::string_view path);
/// Whether the client's session has a node that is held: not lost, not idle. Called on the strand.
[[nodiscard]] CUSTODIAN_EXPORT bool has_held_node(ClientCore& core);
/// Forbids passing a node on after its present holder. Any thread. The client itself forbids it
/// when the node is lost, when another client has asked for the lock (see make_revocable()), and
/// when the connection is lost: a write of the holder may then still be under way, and would pass a
/// check of the node while the next holder has it.
CUSTODIAN_EXPORT void end_passing(const LockNodePtr& node);
}  // namespace detail

/// Owns a lock. The owner is this object, not a thread, so a lease may be moved between threads and
/// coroutines. Move-only; an empty lease owns nothing. Several leases may share one hold (see
/// `share()`); the last of them releases the lock.
///
/// Destroying a lease releases it in the background: the delete of the node is repeated until the
/// node is gone or the session is over. Neither the destructor nor release() blocks or throws. A
/// lost lease must be destroyed or released, too: when the lease clock has run out, the client
/// keeps the session until the last lease on it is released.
///
/// Threads: different Lease objects may be used by different threads at once; one object by one
/// thread at a time. Lifetimes: a lease may outlive the lock object and the client; it is lost when
/// the client is closed.
class [[nodiscard]] CUSTODIAN_EXPORT Lease {
 public:
  /// An empty lease, which owns nothing.
  Lease() noexcept = default;
  /// A moved-from object is empty.
  Lease(Lease&& other) noexcept = default;
  /// Releases what this lease held before. A moved-from object is empty.
  Lease& operator=(Lease&& other) noexcept;
  ~Lease();

  /// Whether the lease is not empty. A lease that is not empty may be lost: see state().
  [[nodiscard]] explicit operator bool() const& noexcept { return hold_ != nullptr; }
  /// Deleted for a temporary, which would release the lock before the condition's body runs: name
  /// the lease, as in `if (auto result = mutex.try_acquire())`.
  explicit operator bool() const&& = delete;

  /// Releases the lock, unless other leases share the hold. The lease is empty afterwards. Does
  /// nothing if it is empty already.
  void release() noexcept;

  /// \name Is it still held?
  /// \{

  /// The state of the lease now. Cheap, since no server is asked; and correct even if the machine
  /// was suspended, since the boot clock is read.
  [[nodiscard]] LeaseState state() const noexcept;
  /// Why the lease is lost; `LossReason::none` if it is not lost.
  [[nodiscard]] LossReason loss_reason() const noexcept;
  /// How long the lease would last from now on without another answer from the servers; zero if the
  /// lease is lost or empty. Each answer extends that time.
  [[nodiscard]] std::chrono::nanoseconds remaining() const noexcept;

  /// A token whose stop is requested when the lease is lost; never after the release, and never for
  /// an empty lease. Its callbacks (`std::stop_callback`) run on the client's callback executor,
  /// and must not keep that executor busy, since it also reports the losses of other leases. The
  /// stop is requested on that executor, so code that polls the token notices a loss as late as a
  /// listener does; state() is never late.
  [[nodiscard]] std::stop_token lost() const noexcept;

  /// Waits until the lease is lost, as in
  /// `co_await (job() || lease.async_wait_lost(use_awaitable))`.
  /// Completes with: error; no error when the lease is lost.
  /// Cancellation: total.
  /// Errors: operation_aborted, also when the lease is released first; forked.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_wait_lost(Token&& token) const {
    return initiate<void(error_code), &detail::start_wait_lost>(
        detail::core_of(hold_, "async_wait_lost"), std::forward<Token>(token), hold_);
  }

  /// Waits until the state differs from `known`; completes at once if it does already.
  /// Completes with: error, the state. All else is as for async_wait_lost().
  template <typename Token>
  auto async_wait_state(LeaseState known, Token&& token) const {
    return initiate<void(error_code, LeaseState), &detail::start_wait_state>(
        detail::core_of(hold_, "async_wait_state"), std::forward<Token>(token), hold_, known);
  }

  /// Calls the listener at every later change of state, until the subscription or the hold is gone.
  [[nodiscard]] Subscription on_state(LeaseListener listener) const;

  /// Asks a quorum of the servers whether the lease is held. The answer holds only for that moment:
  /// where possible, guard writes with check() or token() instead.
  /// Errors: lock_lost, deadline_exceeded, and those common to all operations.
  template <typename Token>
  auto async_assert_held(Token&& token) const {
    return initiate<void(error_code), &detail::start_assert_held>(
        detail::core_of(hold_, "async_assert_held"), std::forward<Token>(token), hold_);
  }
  /// The blocking form of async_assert_held(). Throws Error.
  void assert_held(std::stop_token stop = {}) const;
  /// \}

  /// \name For resources that must refuse a former holder
  /// \{

  /// The fencing token of the holder. An empty lease has a token of 0, which is smaller than any
  /// other.
  [[nodiscard]] FencingToken token() const noexcept;
  /// An operation that lets a transaction fail unless the lock is held: it checks that the lease's
  /// node, whose name is unique, exists. With HandOff::cohort, or where the lock is kept
  /// (`LockOptions::keep_idle_for`), the node proves only that this process has the lock, perhaps
  /// for a later holder. The node's path belongs to the namespace in which the lock was acquired:
  /// through a handle with another namespace (`Client::with_namespace()`) the check fails. Throws
  /// Error (lock_lost) if the lease is empty.
  [[nodiscard]] TransactionOperation check() const;
  /// \}

  /// \name When another client wants it
  /// \{

  /// Calls the listener whenever a client asks for the lock (see `revoke()`), and at once if a
  /// client has asked already, until the subscription or the hold is gone. The lock stays held
  /// until its holder releases it. Several requests in a short time may cause one call. Costs a
  /// watch on the lease's node; a client that may not read its nodes is not notified (the log says
  /// so). A request replaces the identity in the node; this client writes the identity back without
  /// waiting for the listeners.
  [[nodiscard]] Subscription make_revocable(RevocationListener listener) const;
  /// \}

  /// \name What others see
  /// \{

  /// Changes the identity under which others see this holder (`Participant::identity`:
  /// participants(), a LeaderObserver, Curator's `getLeader().getId()`), until the lock is
  /// released. The identity is the data of the lease's node. Use this for a leader that shows more
  /// than its name, such as an address or its progress. A later hold of the same lock or candidate
  /// begins again with the identity in its options. An empty `identity` stands for the client's
  /// identity. A node whose identity was changed is neither passed on (HandOff::cohort) nor kept:
  /// the next holder gets a node of its own.
  ///
  /// Only the node of this hold is written, and only while it is held. If the node contains a
  /// request to release the lock (`revoke()`), the request stays there, and the change fails. A
  /// write whose reply is lost is repeated. If several changes are under way, the one that was
  /// begun last wins. Throws Error (invalid_argument) for an identity that is too large, or is
  /// `revoke_message`.
  /// Completes with: error; no error when the servers have the identity.
  /// Cancellation: total; what was sent may still be applied.
  /// Errors: lock_lost, also when the lease is released first; bad_version (a client has asked for
  /// the lock); no_auth, and those common to all operations.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_set_identity(std::string identity, Token&& token) const {
    detail::check_identity(hold_, "async_set_identity", identity);
    return initiate<void(error_code), &detail::start_set_identity>(
        detail::core_of(hold_, "async_set_identity"), std::forward<Token>(token), hold_,
        std::move(identity));
  }
  /// The blocking form of async_set_identity(). Throws Error.
  void set_identity(std::string identity, std::stop_token stop = {}) const;
  /// \}

  /// \name Sharing
  /// \{

  /// The path of the hold's node; empty if the lease is empty.
  [[nodiscard]] const std::string& node() const noexcept;
  /// How many leases share the hold, this one included; 0 if the lease is empty.
  [[nodiscard]] int hold_count() const noexcept;
  /// Another lease on the same hold, lost or not; empty if this lease is empty.
  [[nodiscard]] Lease share() const noexcept;

  /// Makes a lease that shares `hold`. For authors of recipes; see detail::start_lease().
  explicit Lease(detail::HolderPtr hold) noexcept;
  /// For authors of recipes: the argument for `await<&detail::start_wait_lost>`; null if the lease
  /// is empty.
  [[nodiscard]] const detail::HolderPtr& hold() const noexcept { return hold_; }
  /// For authors of recipes: the client's core; null if the lease is empty.
  [[nodiscard]] CorePtr core() const noexcept;
  /// \}

 private:
  detail::HolderPtr hold_;
};

}  // namespace custodian
