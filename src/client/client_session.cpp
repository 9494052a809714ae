#include "client/client_session.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "base/encoded_size.hpp"
#include "client/beat_part.hpp"
#include "client/client_core.hpp"
#include "client/waiting_session.hpp"

namespace custodian::detail {

namespace asio = boost::asio;

ClientSession::ClientSession(const CorePtr& core)
    : core_{core},
      time_{core->options().clock},
      wire_{std::make_shared<WaitingSession>(core->strand())},
      clock_{core->options().touch_interval},
      timer_{core->boot_timers()} {}

void ClientSession::start(SessionSettings settings) {
  const auto core = core_.lock();
  wire_ = core->options().session_factory(core->strand(), std::move(settings), weak_from_this());
  asio::post(core->strand(), [self = shared_from_this()] { self->wire_->start(); });
}

// -- States of the session ------------------------------------------------------------------------

void ClientSession::on_state(SessionState state, const SessionInfo& info) {
  const auto core = core_.lock();
  if (!core) return;
  on_connection(state, info);
  switch (state) {
    case SessionState::connected:
    case SessionState::connecting: break;
    case SessionState::expired:
    case SessionState::auth_failed:
    case SessionState::auth_required:
    case SessionState::identity_refused: lose_holds(LossReason::session_over); break;
    case SessionState::closed: lose_holds(LossReason::closed); break;
  }
  if (connected_ && clock_has_run_out()) {
    // The lease clock ran out unnoticed, so the leases cannot use this connection.
    return core->sessions().give_up(*this, LossReason::lease_expired);
  }
  core->sessions().on_state(*this, state, info);
  for (const auto& hold : holds()) hold->on_session_state();
  if (purpose_ == Purpose::over) {
    timer_.cancel();
    return;
  }
  if (purpose_ == Purpose::retired) return abandon_unless_connected();
  if (connected_ && has_live_holds()) heartbeat_.hurry(now());
  check();
}

void ClientSession::on_connection(SessionState state, const SessionInfo& info) {
  if (state == SessionState::connected) {
    id_ = info.id;
    clock_.connected(info);
    heartbeat_.connected(now(), clock_.timeout(), clock_.touch_interval());
    set_clock();
  } else {
    clock_.disconnected();
    heartbeat_.disconnected();
    to_ask_for_.clear();
    if (state != SessionState::connecting) purpose_ = Purpose::over;
  }
  connected_ = state == SessionState::connected;
}

void ClientSession::on_answer(const ReplyProof& stamp) {
  clock_.answered(stamp);
  heartbeat_.heard(stamp.acknowledged);
  set_clock();
  const auto core = core_.lock();
  if (core && purpose_ == Purpose::serving) core->on_answer();
}

void ClientSession::set_clock() {
  valid_until_ = clock_.valid_until();
  comfortable_until_ = clock_.valid_until() - clock_.comfortable_rest();
}

void ClientSession::submit(Request request, ReplyHandler handler) {
  const auto core = core_.lock();
  if (!core || encoded_size(request) <= core->options().max_request_size) {
    return wire_->submit(std::move(request), std::move(handler));
  }
  // The reply is posted, because a handler never runs within submit().
  asio::post(core->strand(), [handler = std::move(handler)]() mutable {
    Reply reply;
    reply.error = Errc::request_too_large;
    std::move(handler)(std::move(reply));
  });
}

void ClientSession::on_credentials_refused(const std::vector<SessionSettings::Credential>& kept) {
  if (const auto core = core_.lock()) core->sessions().on_credentials_refused(*this, kept);
}

void ClientSession::on_log(LogLevel level, std::string message) {
  if (const auto core = core_.lock()) core->log(level, std::move(message));
}

// -- Leases ---------------------------------------------------------------------------------------

void ClientSession::add(const std::shared_ptr<SessionLease>& hold) {
  const std::lock_guard lock{mutex_};
  holds_.emplace(hold.get(), hold);
}

void ClientSession::remove(const SessionLease& hold) {
  {
    const std::lock_guard lock{mutex_};
    holds_.erase(&hold);
  }
  const auto core = core_.lock();
  if (core) core->on_strand([self = shared_from_this()] { self->close_if_free(); });
}

ClientSession::Leases ClientSession::holds() const {
  const std::lock_guard lock{mutex_};
  Leases all;
  all.reserve(holds_.size());
  for (const auto& [key, hold] : holds_) {
    if (auto alive = hold.lock()) all.push_back(std::move(alive));
  }
  return all;
}

bool ClientSession::has_holds() const {
  const std::lock_guard lock{mutex_};
  return !holds_.empty();
}

bool ClientSession::has_live_holds() const {
  const std::lock_guard lock{mutex_};
  // No owning pointer is taken: if it became the last one, its destructor would call remove(),
  // which locks the same mutex. A node stays in the list until its destructor has removed it, so
  // the raw pointer is valid.
  return std::ranges::any_of(holds_, [](const auto& each) { return !each.first->is_lost(); });
}

bool ClientSession::clock_has_run_out() const {
  return purpose_ == Purpose::serving && now() >= clock_.valid_until() && has_live_holds();
}

void ClientSession::give_up_if_run_out() {
  if (purpose_ != Purpose::serving || !has_holds() || now() < clock_.valid_until()) return;
  if (const auto core = core_.lock()) core->sessions().give_up(*this, LossReason::lease_expired);
}

void ClientSession::lose_holds(LossReason reason) {
  for (const auto& hold : holds()) hold->lose(reason);
}

void ClientSession::release_idle() {
  for (const auto& hold : holds()) {
    if (hold->is_idle()) hold->end_passing();
  }
}

bool ClientSession::has_idle(std::string_view full_path) const {
  const Leases all = holds();
  return std::ranges::any_of(
      all, [&](const auto& hold) { return hold->is_idle() && hold->full_path() == full_path; });
}

bool ClientSession::has_held_node() const {
  const Leases all = holds();
  return std::ranges::any_of(all,
                             [](const auto& hold) { return !hold->is_lost() && !hold->is_idle(); });
}

void ClientSession::retire() {
  purpose_ = std::max(purpose_, Purpose::retired);
  wire_->retire();
  close_if_free();
  abandon_unless_connected();
}

void ClientSession::abandon_unless_connected() {
  timer_.cancel();
  if (connected_ || purpose_ == Purpose::over) return;
  // Attempts to connect may reach the servers though no reply comes back, and each keeps the
  // session alive. So they stop after a session timeout.
  timer_.set(now() + clock_.timeout(), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->wire_->close(std::chrono::milliseconds{0}, nullptr);
  });
}

void ClientSession::close_if_free() {
  constexpr std::chrono::seconds grace{1};
  if (purpose_ != Purpose::retired || has_holds()) return;
  wire_->close(grace, nullptr);
}

// -- The clock and the beats ----------------------------------------------------------------------

void ClientSession::on_lease() {
  if (!minds_clock_) check();
}

void ClientSession::check() {
  if (purpose_ != Purpose::serving) return;
  const auto core = core_.lock();
  if (!core) return;
  // If the lease clock has run out, the servers may end the session from now on.
  if (clock_has_run_out()) return core->sessions().give_up(*this, LossReason::lease_expired);
  const auto time = now();
  if (heartbeat_.silent(time)) {
    core->log(LogLevel::warning, "the server does not answer; looking for another one");
    heartbeat_.disconnected();
    wire_->disconnect();
  }
  if (heartbeat_.due(time)) beat();
  schedule();
}

void ClientSession::schedule() {
  auto next = heartbeat_.next();
  minds_clock_ = has_live_holds();
  if (minds_clock_) next = std::min(next, clock_.valid_until());
  if (next == BootClock::time_point::max()) {
    timer_.cancel();
    return;
  }
  timer_.set(next, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->check();
  });
}

void ClientSession::beat() {
  Leases held = holds();
  std::erase_if(held, [](const auto& hold) { return hold->is_lost(); });
  const bool quorum = !held.empty();
  // An idle node is not checked: it has no holder, and its recipe notices its deletion by itself.
  std::erase_if(held, [](const auto& hold) { return hold->is_idle() || !hold->is_checkable(); });
  heartbeat_.sent(now());
  unanswered_ = 0;
  to_ask_for_.assign(held.begin(), held.end());
  if (!held.empty()) return go_on_with_beat();
  Request request = request::Exists{"/", nullptr};
  // The lease clock needs a quorum's result, even if no lease's node may be checked: so the root is
  // checked instead.
  if (quorum) request = request::Multi{{transaction::Check{"/", any_version}}};
  ++unanswered_;
  submit(std::move(request), [weak = weak_from_this()](const Reply& reply) {
    if (const auto self = weak.lock()) self->on_beat({}, reply);
  });
}

void ClientSession::go_on_with_beat() {
  // The remaining parts follow on the answers: a server serves a connection in order, so a request
  // that is sent meanwhile, an acquire for one, waits behind these parts only, and not behind the
  // checks of every lease.
  constexpr int most_at_once = 8;
  const auto core = core_.lock();
  if (!core) return;
  while (unanswered_ < most_at_once && !to_ask_for_.empty()) {
    request::Multi checks;
    AskedFor asked_for;
    for (BeatPart part{core->options().max_request_size}; !to_ask_for_.empty();
         to_ask_for_.pop_front()) {
      const auto hold = to_ask_for_.front().lock();
      if (!hold || hold->is_lost()) continue;
      if (!part.add(hold->full_path().size())) break;
      checks.operations.emplace_back(transaction::Check{hold->full_path(), any_version});
      asked_for.push_back(hold);
    }
    if (asked_for.empty()) return;
    ++unanswered_;
    submit(std::move(checks),
           [weak = weak_from_this(), asked_for = std::move(asked_for)](const Reply& reply) {
             if (const auto self = weak.lock()) self->on_beat(asked_for, reply);
           });
  }
}

void ClientSession::on_beat(const AskedFor& asked_for, const Reply& reply) {
  // An unanswered beat of a lost connection does not count.
  if (purpose_ != Purpose::serving || reply.error == ServerErrc::connection_loss) return;
  --unanswered_;
  on_check_failed(asked_for, reply);
  go_on_with_beat();
  if (unanswered_ > 0) return;
  heartbeat_.answered();
  check();
}

void ClientSession::on_check_failed(const AskedFor& asked_for, const Reply& reply) {
  // Only a request of one check can be too large (see BeatPart::add()), so `asked_for` has one
  // lease.
  if (reply.error == Errc::request_too_large) {
    for (const auto& each : asked_for) {
      if (const auto hold = each.lock()) hold->on_check_failed(reply.error);
    }
  }
  if (!reply.error || !is_answer_of_server(reply.error)) return;
  const auto culprit = std::ranges::find(reply.results, reply.error, &TransactionResult::error);
  const auto place = culprit - reply.results.begin();
  if (culprit == reply.results.end() || place >= std::ssize(asked_for)) return;
  const auto failed = asked_for.begin() + place;
  if (const auto hold = failed->lock()) hold->on_check_failed(reply.error);
  // The transaction stopped at that check, so the nodes behind it are checked again.
  to_ask_for_.insert(to_ask_for_.begin(), std::next(failed), asked_for.end());
}

}  // namespace custodian::detail
