#pragma once

/// \file
/// Lease owns a lock, and knows whether the lock is still held.
///
/// The servers may give a lock to another client when they have not heard from its holder's session
/// for the session timeout. A holder that is cut off cannot ask them. But it knows when it last
/// reached them, and so how long the lock is certainly its own: the *lease clock* counts from
/// there. The promise: a holder is notified that it has lost the lock *before* the servers can give
/// it to another client, unless the holder's process was stopped meanwhile. For a process that was
/// stopped there are fencing (`token()`) and guarded writes (`check()`), which always protect.

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
  released,  ///< its holder has released it, or the lease is empty
  lost,      ///< it ended without a release; see LossReason
};
/// The name of the enumerator.
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(LeaseState state) noexcept;

/// Why a lease was lost. If there are several reasons, the first counts.
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
/// The recipe and path under which an observer sees a lock; null without an observer.
using ObservedLockPtr = std::shared_ptr<const ObservedLock>;

namespace detail {
class Holder;
using HolderPtr = std::shared_ptr<Holder>;
class LockNode;
using LockNodePtr = std::shared_ptr<LockNode>;

/// The data of a node that this client owns.
using NodeData = std::shared_ptr<const std::string>;

/// For authors of recipes, on the client's strand: makes a lease of `node`, which is first in its
/// queue and was created with `data`. The client writes `data` back when a request
/// (`revoke_message`) has replaced them. If less than a third of the session timeout is left on the
/// lease clock, the function asks the servers first, and asks again as `retry` says. If it fails or
/// is cancelled, the node is deleted. The client's observer is notified of the lease under the name
/// in `observed` (see make_observed()), unless `observed` is null. Errors: session_lost,
/// node_deleted, session_timeout_too_short, operation_aborted, closed; and not_connected,
/// connection_loss or throttled, if the policy gives up.
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

/// For authors of recipes whose holders hold for long, on the strand: watches the node of a lease,
/// which must not be empty. A deletion by another client is then noticed at once, and not only by
/// the next beat. Costs a read, unless the node is watched already.
CUSTODIAN_EXPORT void watch_node(const Lease& lease);

// For authors of recipes whose holders follow each other on one node: the node of a lease, which
// must not be empty.
[[nodiscard]] CUSTODIAN_EXPORT const LockNodePtr& lock_node(const Lease& lease) noexcept;

/// Called when a holder releases its last lease, within that release, on any thread: it must not
/// block or throw. From then on the function owns the node, whether it is lost or not:
/// destroying the node releases the lock. Not called in the child of a fork.
using PassOn = std::function<void(LockNodePtr node)>;
/// Called on the strand, once, when a node may never be passed on again: see end_passing().
using PassingEnded = std::function<void()>;
/// On the strand: sets a node's functions. Call it before the first holder has its lease.
CUSTODIAN_EXPORT void set_pass_on(const LockNodePtr& node, PassOn pass_on,
                                  PassingEnded passing_ended);
/// Whether a node may go to a next holder now: has_passing_ended() is false, and the next holder
/// would have time to work, and to be notified of a loss. Any thread.
[[nodiscard]] CUSTODIAN_EXPORT bool may_be_passed_on(const LockNodePtr& node) noexcept;
/// Whether a node may never be passed on again. No clock is read. Any thread.
[[nodiscard]] CUSTODIAN_EXPORT bool has_passing_ended(const LockNodePtr& node) noexcept;
/// Whether an observer hears of a holder.
enum class Events : std::uint8_t {
  all,
  of_loss_only,  ///< its lease's begin and its release are reported with its loss, or never
};
/// Makes the lease of the next holder, after the previous holder has released. The node is idle no
/// more. Any thread.
[[nodiscard]] CUSTODIAN_EXPORT Lease next_lease(const LockNodePtr& node,
                                                Events events = Events::all);
/// The node has no holder, and stays: see Client::kept_locks(). Beats do not ask for it. Any
/// thread.
CUSTODIAN_EXPORT void set_idle(const LockNodePtr& node) noexcept;
/// On the strand: whether the client has an idle node at this path.
[[nodiscard]] CUSTODIAN_EXPORT bool has_idle_node(ClientCore& core, std::string_view path);
/// Forbids passing a node on after its present holder. The client itself forbids it for a node that
/// is lost; one whose connection was lost, for a write of its holder may still be under way, and
/// would pass a check of the node under the next holder; and one that another client has asked for
/// (see make_revocable()). Any thread.
CUSTODIAN_EXPORT void end_passing(const LockNodePtr& node);
}  // namespace detail

/// Owns a lock. The owner is this object, not a thread, so a lease may be moved between threads and
/// coroutines. Move-only; an empty lease owns nothing. Several leases may share one hold (see
/// `share()`); the last of them releases the lock.
///
/// Destroying it releases in the background: the node is deleted, with retries, until it is gone or
/// the session is over. Neither the destructor nor release() blocks or throws. A lost lease must be
/// destroyed or released, too: when the lease clock has run out, the client keeps the session until
/// the last lease on it is released.
///
/// Threads: different Lease objects may be used by different threads at once; one object by one
/// thread at a time. Lifetimes: a lease may outlive the lock object and the client; it is lost when
/// the client is closed.
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
  /// Deleted for a temporary, which would release the lock before the condition's body runs: name
  /// the lease, as in `if (auto result = mutex.try_acquire())`.
  explicit operator bool() const&& = delete;

  /// Releases the lock, unless other leases share the hold. The lease is empty afterwards. Does
  /// nothing if it is empty already.
  void release() noexcept;

  /// \name Is it still held?
  /// \{

  /// The state by the boot clock. Cheap, for it asks no server; and correct even if the machine was
  /// suspended.
  [[nodiscard]] LeaseState state() const noexcept;
  /// Why it is lost; none if it is not.
  [[nodiscard]] LossReason loss_reason() const noexcept;
  /// How long the lease would last from now on without another answer from the servers; zero if it
  /// is lost or empty. Each answer extends it.
  [[nodiscard]] std::chrono::nanoseconds remaining() const noexcept;

  /// A token that is stopped when the lease is lost; never after the release, and never for an
  /// empty lease. Callbacks on it (`std::stop_callback`) run on the client's callback executor, and
  /// must not keep that busy: losses of other leases are reported there, too. The token itself is
  /// stopped there, so code that polls it learns of a loss as late as a listener; state() is never
  /// late.
  [[nodiscard]] std::stop_token lost() const noexcept;

  /// Waits until the lease is lost, as in
  /// `co_await (job() || lease.async_wait_lost(use_awaitable))`.
  /// Completes with: error; none when the lease is lost.
  /// Cancellation: total.
  /// Errors: operation_aborted, also when the lease is released first.
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

  /// Asks a quorum of the servers whether the lease is held. The answer is true only of that
  /// moment: where possible, guard writes with check() or token() instead.
  /// Errors: lock_lost, deadline_exceeded, and those common to all operations.
  template <typename Token>
  auto async_assert_held(Token&& token) const {
    return initiate<void(error_code), &detail::start_assert_held>(
        detail::core_of(hold_, "async_assert_held"), std::forward<Token>(token), hold_);
  }
  /// The same, blocking. Throws Error.
  void assert_held(std::stop_token stop = {}) const;
  /// \}

  /// \name For resources that must refuse a former holder
  /// \{

  /// The fencing token. An empty lease has 0, smaller than any other.
  [[nodiscard]] FencingToken token() const noexcept;
  /// An operation for a transaction, which fails unless the lock is held: it checks that the node,
  /// whose name is unique, exists. With HandOff::cohort, or where the lock is kept
  /// (`LockOptions::keep_idle_for`), that proves only that this process has the lock, perhaps for a
  /// later holder. Throws Error (lock_lost) if the lease is empty.
  [[nodiscard]] TransactionOperation check() const;
  /// \}

  /// \name When another client wants it
  /// \{

  /// Calls the listener whenever a client asks for the lock (see `revoke()`), and at once if a
  /// client has asked already, until the subscription or the hold is gone. The lock stays held
  /// until its holder releases it. Several requests in a short time may cause one call. Costs a
  /// watch on the lease's node; a client that may not read its nodes is not notified (the log says
  /// so). A request replaces the identity in the node; this client writes the identity back, and
  /// does not wait for the listeners.
  [[nodiscard]] Subscription make_revocable(RevocationListener listener) const;
  /// \}

  /// \name What others see
  /// \{

  /// Changes the identity under which others see this holder (`Participant::identity`:
  /// participants(), a LeaderObserver, Curator's `getLeader().getId()`): the data of the node,
  /// until the lock is released. Use it for a leader that shows more than its name, such as an
  /// address or its progress. A later hold of the same lock or candidate begins again with the
  /// identity in its options. Empty: the client's identity. A node whose identity was changed is
  /// neither passed on (HandOff::cohort) nor kept: the next holder gets a node of its own.
  ///
  /// Only the node of this hold is written, and only while it is held. If the node contains a
  /// request to release the lock (`revoke()`), the request stays there, and the change fails. A
  /// write whose reply is lost is repeated. Of several changes, the one that was begun last stays.
  /// Throws Error (invalid_argument) for an identity that is too large, or is `revoke_message`.
  /// Completes with: error; none when the servers have the identity.
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
  /// The same, blocking. Throws Error.
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

  /// For authors of recipes; see detail::start_lease.
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
