/// \file
/// In this file a holder changes its identity: the data of its node, which other clients see.
///
/// 1. Wait until the earlier changes of the node are done.
/// 2. Read the node. If it has the new identity already, the change is done. If a client has asked
///    for the lock, the change fails.
/// 3. Write the identity over the version that was read, so that the write overwrites nothing that
///    another client has written meanwhile: a request to release the lock, for example.
/// 4. If the reply was lost, or the node had another version, go on with 2: the next read shows
///    whether the write was applied.
///
/// The node has a unique name, so a write succeeds only while that node exists, and needs no other
/// check.

#include <boost/asio/awaitable.hpp>
#include <utility>

#include "client/argument_checks.hpp"
#include "client/operation.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/spawn.hpp"
#include "custodian/lease/lease.hpp"
#include "lease/holder.hpp"
#include "lease/lock_node.hpp"

namespace custodian::detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

/// One change, from the call to its end. It owns neither the holder nor the node, so that a release
/// never waits for a change. Used on the strand only.
struct Change {
  CorePtr core;
  CancellationPtr callers;
  std::weak_ptr<Holder> hold;
  std::string full_path;
  std::string identity;
  Plan plan;
  Handler<> handler;
  /// Cancels the requests under way, when the caller cancels the change or the lease ends.
  CancellationPtr over;
  /// Whether a write was sent whose outcome is unknown.
  bool uncertain = false;
  bool has_written = false;  ///< a write was sent, or may have been

  [[nodiscard]] bool is_held() const {
    const HolderPtr alive = hold.lock();
    return alive && alive->node()->state() != LeaseState::lost;
  }
  /// The reason why nothing may be sent, if any.
  [[nodiscard]] error_code objection() const {
    if (!is_held()) return Errc::lock_lost;
    if (over->requested()) return asio::error::operation_aborted;
    return plan.deadline.passed() ? error_code{Errc::deadline_exceeded} : error_code{};
  }
  /// Records that the change has succeeded: the node exists, and its data are the new identity.
  [[nodiscard]] error_code succeed() const {
    if (const HolderPtr alive = hold.lock()) alive->node()->on_changed(identity);
    return {};
  }
  /// Turns the error of a failed request into the one that the caller gets.
  [[nodiscard]] error_code explain(error_code error) const {
    const HolderPtr alive = hold.lock();
    if (alive && error == ServerErrc::no_node) alive->node()->on_check_failed(error);
    if (!is_held()) return Errc::lock_lost;
    if (!uncertain) return error;
    if (error == Errc::deadline_exceeded) return Errc::deadline_exceeded_outcome_unknown;
    return error == Errc::not_connected ? error_code{ServerErrc::connection_loss} : error;
  }
};

using ChangePtr = std::shared_ptr<Change>;

/// Changes of one node are made one after the other, so that the last change that was requested
/// wins. A Turn is a change's place in their line, from its construction to its destruction.
class Turn {
 public:
  explicit Turn(const Change& change) : woken_{std::make_shared<Cancellation>(change.core)} {
    if (const HolderPtr hold = change.hold.lock()) line_ = hold->node()->changes();
    if (line_) line_->push_back(woken_);
    change.over->on_request(this, [woken = woken_] { woken->request(); });
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (!line_) return;
    std::erase(*line_, woken_);
    if (!line_->empty()) line_->front()->request();
  }

  [[nodiscard]] bool has_come() const { return !line_ || line_->front() == woken_; }
  /// Requested when the turn has come, or the change is over: ends the wait for the turn.
  [[nodiscard]] const CancellationPtr& woken() const noexcept { return woken_; }

 private:
  CancellationPtr woken_;
  ChangeLinePtr line_;
};

request::Set set_of(const Change& change, std::int32_t version) {
  return {change.full_path, change.identity, version};
}

/// Reads the node, and writes the identity unless it is there already. Returns nothing if the
/// change must be tried again.
asio::awaitable<std::optional<error_code>> try_to_change(ChangePtr change) {
  if (const error_code error = change->objection()) co_return change->explain(error);
  Request get = request::Get{change->full_path, nullptr};
  Plan reading = change->plan;
  reading.repeat = Repeat::always;
  const Reply found = co_await reply_to(change->core, std::move(get), reading, change->over);
  if (found.error) co_return change->explain(found.error);
  if (found.data == change->identity) co_return change->succeed();
  if (found.data == revoke_message) co_return error_code{ServerErrc::bad_version};
  if (const error_code error = change->objection()) co_return change->explain(error);
  // The identity is written twice, which keeps an even version even: an odd version says that a
  // client has asked for the lock (revocation.hpp).
  Request sets =
      request::Multi{{set_of(*change, found.stat.version), set_of(*change, any_version)}};
  change->has_written = true;
  const Reply written =
      co_await reply_to(change->core, std::move(sets), change->plan, change->over);
  if (!written.error) co_return change->succeed();
  const bool unknown = written.error == ServerErrc::connection_loss;
  change->uncertain = change->uncertain || unknown;
  if (unknown || written.error == ServerErrc::bad_version) co_return std::nullopt;
  co_return change->explain(written.error);
}

asio::awaitable<void> make_change(ChangePtr change) {
  std::optional<error_code> outcome;
  {
    const Turn turn{*change};
    while (!turn.has_come() && !change->objection()) {
      constexpr std::chrono::hours long_enough{1};
      co_await pause(change->core, long_enough, change->plan.deadline, turn.woken());
    }
    while (!outcome) outcome = co_await try_to_change(change);
    change->over->forget(&turn);
  }
  change->over->request();  // ends the wait for the loss of the lease
  const HolderPtr alive = *outcome && change->has_written ? change->hold.lock() : nullptr;
  if (alive) alive->node()->on_maybe_changed(change->identity);
  if (change->callers) change->callers->forget(change.get());
  std::move(change->handler)(*outcome);
}

/// Starts a change. A change also ends when the lease is lost or released: a later request might be
/// sent in another session.
void begin(const ChangePtr& change) {
  const HolderPtr hold = change->hold.lock();
  if (!hold) return std::move(change->handler)(Errc::lock_lost);
  // The node is not passed on from now on: its next holder would have another identity.
  hold->node()->end_passing();
  if (change->callers) {
    if (change->callers->requested()) change->over->request();
    change->callers->on_request(change.get(), [over = change->over] { over->request(); });
  }
  start_wait_lost(change->core, change->over, hold,
                  [over = change->over](error_code) { over->request(); });
  spawn(change->core, "changing " + change->full_path, make_change(change),
        [change](error_code error) {
          if (change->handler) std::move(change->handler)(error);
        });
}

}  // namespace

void check_identity(const HolderPtr& hold, std::string_view operation, std::string_view identity) {
  const auto core = core_of(hold, operation);
  const std::string& path = hold->node()->path();
  if (identity == revoke_message) {
    throw Error{Errc::invalid_argument, operation, path,
                "identity: this is the message by which somebody asks for the lock"};
  }
  check_written_twice(*core, operation, path, identity);
}

void start_set_identity(CorePtr core, CancellationPtr cancellation, HolderPtr hold,
                        std::string identity, Handler<> handler) {
  if (core->forked()) return std::move(handler)(Errc::forked);
  if (identity.empty()) identity = core->options().identity;
  Plan plan = make_plan(*core, {}, {}, Repeat::unless_outcome_unknown);
  auto over = std::make_shared<Cancellation>(core);
  std::string path = hold->node()->full_path();
  const auto change = std::make_shared<Change>(Change{.core = core,
                                                      .callers = std::move(cancellation),
                                                      .hold = hold,
                                                      .full_path = std::move(path),
                                                      .identity = std::move(identity),
                                                      .plan = plan,
                                                      .handler = std::move(handler),
                                                      .over = std::move(over)});
  core->on_strand([change] { begin(change); });
}

}  // namespace custodian::detail
