#include "custodian/lease/lease.hpp"

#include <utility>

#include "client/operation.hpp"
#include "client/queued_node.hpp"
#include "custodian/authoring/spawn.hpp"
#include "lease/holder.hpp"
#include "lease/lock_node.hpp"

namespace custodian {

namespace asio = boost::asio;

std::string_view to_string(LeaseState state) noexcept {
  switch (state) {
    case LeaseState::held: return "held";
    case LeaseState::suspended: return "suspended";
    case LeaseState::released: return "released";
    case LeaseState::lost: return "lost";
  }
  return "unknown";
}

std::string_view to_string(LossReason reason) noexcept {
  switch (reason) {
    case LossReason::none: return "not lost";
    case LossReason::lease_expired:
      return "the servers were out of reach for too long, or this process stood still";
    case LossReason::session_over: return "its session has ended";
    case LossReason::node_deleted: return "somebody has deleted its node";
    case LossReason::suspended: return "the connection failed";
    case LossReason::held_too_long: return "its maximum time is up";
    case LossReason::closed: return "the client was closed";
  }
  return "unknown";
}

namespace detail {

namespace {

request::Multi check_of(std::string full_path) {
  return {{transaction::Check{std::move(full_path), any_version}}};
}

/// A node that is first in its queue, on its way to being a lease.
struct Grant {
  CorePtr core;
  CancellationPtr cancellation;
  OwnedNode node;
  NodeData data;
  LeaseOptions options;
  RetryPolicy retry;
  ObservedLockPtr observed;
  Handler<Lease> handler;

  /// The node's session, if it is still the client's; null otherwise.
  [[nodiscard]] std::shared_ptr<ClientSession> session() const {
    return core->sessions().with_id(node.stat().ephemeral_owner);
  }
};

enum class Readiness { ready, closed, session_lost, timeout_too_short, uncertain };

/// Whether the node may become a lease: its session must certainly be alive, and for long enough.
Readiness readiness(const Grant& grant) {
  if (grant.core->closed()) return Readiness::closed;
  const auto session = grant.session();
  if (!session) return Readiness::session_lost;
  if (!session->clock().can_run()) return Readiness::timeout_too_short;
  if (!session->connected()) return Readiness::uncertain;
  const bool comfortable = grant.core->now() <= session->comfortable_until();
  return comfortable ? Readiness::ready : Readiness::uncertain;
}

void finish(Grant& grant, error_code error) {
  const QueuedNodePtr& line = grant.node.in_line();
  if (!error && line && line->missing) error = Errc::node_deleted;
  if (error == Errc::node_deleted) grant.node.forfeit();
  if (error) return std::move(grant.handler)(error, Lease{});
  auto session = grant.session();
  const LockNodePtr node =
      LockNode::make(grant.core, std::move(session), std::move(grant.node), std::move(grant.data),
                     grant.options, std::move(grant.observed));
  std::move(grant.handler)(error_code{}, Lease{node->next_holder(Events::all)});
}

/// A lock is worth nothing while its session may have expired. So the node is checked by requests
/// that a quorum decides, until their answers have moved the lease clock far enough.
asio::awaitable<void> make_certain(std::shared_ptr<Grant> grant) {
  const Plan plan{Deadline::never(), grant->retry, Repeat::always};
  const std::string path = grant->core->prefix().add(grant->node.path());
  for (;;) {
    if (grant->cancellation && grant->cancellation->requested()) {
      co_return finish(*grant, asio::error::operation_aborted);
    }
    const Readiness now = readiness(*grant);
    if (now == Readiness::ready) co_return finish(*grant, {});
    if (now == Readiness::closed) co_return finish(*grant, Errc::closed);
    if (now == Readiness::session_lost) co_return finish(*grant, Errc::session_lost);
    if (now == Readiness::timeout_too_short) {
      co_return finish(*grant, Errc::session_timeout_too_short);
    }
    Request check = check_of(path);
    const Reply reply = co_await reply_to(grant->core, std::move(check), plan, grant->cancellation);
    const auto session = grant->session();
    if (!session) co_return finish(*grant, Errc::session_lost);
    if (reply.error == ServerErrc::no_node) co_return finish(*grant, Errc::node_deleted);
    // The node exists even if we may not read it, and a quorum has answered.
    if (reply.error && reply.error != ServerErrc::no_auth) co_return finish(*grant, reply.error);
    if (readiness(*grant) != Readiness::uncertain) continue;
    // The answers of a young connection are credited only after a touch interval.
    const auto wait = session->clock().touch_interval() / 4;
    co_await pause(grant->core, std::chrono::ceil<std::chrono::milliseconds>(wait),
                   Deadline::never(), grant->cancellation);
  }
}

}  // namespace

void start_lease(CorePtr core, CancellationPtr cancellation, OwnedNode node, NodeData data,
                 LeaseOptions options, RetryPolicy retry, ObservedLockPtr observed,
                 Handler<Lease> handler) {
  Grant grant{std::move(core), std::move(cancellation), std::move(node),   std::move(data), options,
              retry,           std::move(observed),     std::move(handler)};
  if (readiness(grant) == Readiness::ready) return finish(grant, {});
  const auto shared = std::make_shared<Grant>(std::move(grant));
  spawn(shared->core, "granting a lease", make_certain(shared), [shared](error_code error) {
    if (shared->handler) finish(*shared, error);
  });
}

void start_wait_state(CorePtr core, CancellationPtr cancellation, HolderPtr hold, LeaseState known,
                      Handler<LeaseState> handler) {
  if (core->forked()) return std::move(handler)(Errc::forked, LeaseState::released);
  core->on_strand([hold = std::move(hold), known, cancellation = std::move(cancellation),
                   handler = std::move(handler)]() mutable {
    hold->wait(known, cancellation, std::move(handler));
  });
}

namespace {

/// Waits for one change after another until the lease is lost: before that it may be suspended and
/// held again many times.
void wait_lost(const CorePtr& core, const CancellationPtr& cancellation, const HolderPtr& hold,
               LeaseState known, Handler<> handler) {
  start_wait_state(core, cancellation, hold, known,
                   [weak = std::weak_ptr{hold}, core, cancellation, handler = std::move(handler)](
                       error_code error, LeaseState state) mutable {
                     const HolderPtr alive = weak.lock();
                     if (error || state == LeaseState::lost || !alive) {
                       if (!error && state != LeaseState::lost) {
                         error = asio::error::operation_aborted;
                       }
                       return std::move(handler)(error);
                     }
                     wait_lost(core, cancellation, alive, state, std::move(handler));
                   });
}

}  // namespace

void start_wait_lost(CorePtr core, CancellationPtr cancellation, HolderPtr hold,
                     Handler<> handler) {
  wait_lost(core, cancellation, hold, LeaseState::held, std::move(handler));
}

void start_assert_held(CorePtr core, CancellationPtr cancellation, HolderPtr hold,
                       Handler<> handler) {
  if (hold->node()->state() == LeaseState::lost) return std::move(handler)(Errc::lock_lost);
  const Plan plan = make_plan(*core, {}, {}, Repeat::always);
  perform(core, check_of(hold->node()->full_path()), plan, std::move(cancellation),
          [weak = std::weak_ptr{hold}, weak_node = std::weak_ptr{hold->node()},
           handler = std::move(handler)](const Reply& reply) mutable {
            // The lease may have been released meanwhile, and its node may have another holder.
            LockNodePtr node = weak_node.lock();
            if (node && reply.error == ServerErrc::no_node) node->on_check_failed(reply.error);
            const bool lost = weak.expired() || node->state() == LeaseState::lost;
            node.reset();
            std::move(handler)(lost ? make_error_code(Errc::lock_lost) : reply.error);
          });
}

CorePtr core_of(const HolderPtr& hold, std::string_view operation) {
  if (!hold) throw Error{Errc::lock_lost, operation, "", "the lease is empty"};
  return hold->core();
}

const LockNodePtr& lock_node(const Lease& lease) noexcept { return lease.hold()->node(); }

void watch_node(const Lease& lease) { lease.hold()->node()->watch(); }

void set_pass_on(const LockNodePtr& node, PassOn pass_on, PassingEnded passing_ended) {
  node->set_pass_on(std::move(pass_on), std::move(passing_ended));
}

bool may_be_passed_on(const LockNodePtr& node) noexcept { return node->may_be_passed_on(); }

bool has_passing_ended(const LockNodePtr& node) noexcept { return node->has_passing_ended(); }

Lease next_lease(const LockNodePtr& node, Events events) {
  return Lease{node->next_holder(events)};
}

void set_idle(const LockNodePtr& node) noexcept { node->set_idle(true); }

bool has_idle_node(ClientCore& core, std::string_view path) {
  return core.sessions().current().has_idle(core.prefix().add(path));
}

bool has_held_node(ClientCore& core) { return core.sessions().current().has_held_node(); }

void end_passing(const LockNodePtr& node) { node->end_passing(); }

}  // namespace detail

Lease::Lease(detail::HolderPtr hold) noexcept : hold_{std::move(hold)} { ++hold_->leases; }

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    release();
    hold_ = std::move(other.hold_);
  }
  return *this;
}

Lease::~Lease() { release(); }

void Lease::release() noexcept {
  if (!hold_) return;
  --hold_->leases;
  if (hold_->core()->forked()) {
    // The holder is leaked: its destruction could destroy the client's session, timers and mutexes.
    // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): without memory the child may end
    static_cast<void>(new detail::HolderPtr{std::move(hold_)});
    return;
  }
  hold_.reset();
}

LeaseState Lease::state() const noexcept {
  return hold_ ? hold_->node()->state() : LeaseState::released;
}

LossReason Lease::loss_reason() const noexcept {
  return hold_ ? hold_->node()->loss_reason() : LossReason::none;
}

std::chrono::nanoseconds Lease::remaining() const noexcept {
  const std::chrono::nanoseconds zero{0};
  if (!hold_ || hold_->node()->state() == LeaseState::lost) return zero;
  return std::max(zero, hold_->node()->valid_until() - hold_->core()->now());
}

std::stop_token Lease::lost() const noexcept { return hold_ ? hold_->lost() : std::stop_token{}; }

Subscription Lease::on_state(LeaseListener listener) const {
  return hold_ ? hold_->listen(std::move(listener)) : Subscription{};
}

Subscription Lease::make_revocable(RevocationListener listener) const {
  return hold_ ? hold_->make_revocable(std::move(listener)) : Subscription{};
}

void Lease::assert_held(std::stop_token stop) const {
  const auto core = detail::core_of(hold_, "assert_held");
  auto [error] = block<&detail::start_assert_held>(core, "assert_held", node(), std::move(stop),
                                                   detail::HolderPtr{hold_});
  throw_if(*core, error, "assert_held", node());
}

void Lease::set_identity(std::string identity, std::stop_token stop) const {
  detail::check_identity(hold_, "set_identity", identity);
  const auto core = detail::core_of(hold_, "set_identity");
  auto [error] = block<&detail::start_set_identity>(core, "set_identity", node(), std::move(stop),
                                                    detail::HolderPtr{hold_}, std::move(identity));
  throw_if(*core, error, "set_identity", node());
}

FencingToken Lease::token() const noexcept { return hold_ ? hold_->token() : FencingToken{}; }

const std::string& Lease::node() const noexcept {
  static const std::string none;
  return hold_ ? hold_->node()->path() : none;
}

int Lease::hold_count() const noexcept { return hold_ ? hold_->leases.load() : 0; }

CorePtr Lease::core() const noexcept { return hold_ ? hold_->core() : nullptr; }

Lease Lease::share() const noexcept { return hold_ ? Lease{hold_} : Lease{}; }

TransactionOperation Lease::check() const {
  if (!hold_) throw Error{Errc::lock_lost, "check", ""};
  return custodian::check(hold_->node()->path());
}

}  // namespace custodian
