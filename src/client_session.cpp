#include "client_session.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "client_core.hpp"
#include "held_node.hpp"

namespace custodian::detail {

namespace asio = boost::asio;

ClientSession::ClientSession(const std::shared_ptr<ClientCore>& core)
    : core_{core}, clock_{core->options().touch_interval}, timer_{core->strand()} {}

void ClientSession::start(SessionSettings settings) {
  const auto core = core_.lock();
  wire_ = core->options().session_factory(core->strand(), std::move(settings), weak_from_this());
  asio::post(core->strand(), [self = shared_from_this()] {
    if (self->wire_) self->wire_->start();
  });
}

// -- What the session becomes ---------------------------------------------------------------------

void ClientSession::on_state(SessionState state, const SessionInfo& info) {
  const auto core = core_.lock();
  if (!core) return;
  on_connection(state, info);
  switch (state) {
    case SessionState::connected:
    case SessionState::connecting: break;
    case SessionState::expired:
    case SessionState::auth_failed: lose_holds(LossReason::session_over); break;
    case SessionState::closed: lose_holds(LossReason::closed); break;
  }
  if (connected_ && clock_has_run_out()) {
    // While nobody looked; the connection is none of theirs any more.
    return core->give_up(*this, LossReason::lease_expired);
  }
  core->on_session_state(*this, state, info);
  for (const auto& hold : holds()) hold->on_session_state();
  if (over_) {
    timer_.cancel();
    return;
  }
  if (retired_) return abandon_unless_connected();
  if (connected_ && has_live_holds()) heartbeat_.hurry(BootClock::now());
  check();
}

void ClientSession::on_connection(SessionState state, const SessionInfo& info) {
  if (state == SessionState::connected) {
    id_ = info.id;
    clock_.connected(info);
    heartbeat_.connected(BootClock::now(), clock_.timeout(), clock_.touch_interval());
    set_clock();
  } else {
    clock_.disconnected();
    heartbeat_.disconnected();
    over_ = state != SessionState::connecting;
  }
  connected_ = state == SessionState::connected;
}

void ClientSession::on_answer(const Stamp& stamp) {
  clock_.answered(stamp);
  heartbeat_.heard(stamp.acknowledged);
  set_clock();
}

void ClientSession::set_clock() {
  valid_until_ = clock_.valid_until();
  comfortable_until_ = clock_.valid_until() - clock_.comfortable_rest();
}

void ClientSession::on_log(LogLevel level, std::string message) {
  if (const auto core = core_.lock()) core->log(level, std::move(message));
}

// -- Leases ---------------------------------------------------------------------------------------

void ClientSession::add(const std::shared_ptr<HeldNode>& hold) {
  const std::lock_guard lock{mutex_};
  holds_.emplace(hold.get(), hold);
}

void ClientSession::remove(const HeldNode& hold) {
  {
    const std::lock_guard lock{mutex_};
    holds_.erase(&hold);
  }
  const auto core = core_.lock();
  if (core) core->on_strand([self = shared_from_this()] { self->close_if_free(); });
}

ClientSession::Holds ClientSession::holds() const {
  const std::lock_guard lock{mutex_};
  Holds all;
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
  return std::ranges::any_of(holds(), [](const auto& hold) { return !hold->is_lost(); });
}

bool ClientSession::clock_has_run_out() const {
  return !retired_ && BootClock::now() >= clock_.valid_until() && has_live_holds();
}

void ClientSession::give_up_if_run_out() {
  if (retired_ || over_ || !has_holds() || BootClock::now() < clock_.valid_until()) return;
  if (const auto core = core_.lock()) core->give_up(*this, LossReason::lease_expired);
}

void ClientSession::lose_holds(LossReason reason) {
  for (const auto& hold : holds()) hold->lose(reason);
}

void ClientSession::retire() {
  retired_ = true;
  wire_->retire();
  close_if_free();
  abandon_unless_connected();
}

void ClientSession::abandon_unless_connected() {
  timer_.cancel();
  if (connected_ || over_) return;
  // Servers that we cannot hear may hear us, and each attempt to connect keeps the session alive.
  timer_.expires_after(clock_.timeout());
  timer_.async_wait([weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (self && !error) self->wire_->close(std::chrono::milliseconds{0}, nullptr);
  });
}

void ClientSession::close_if_free() {
  constexpr std::chrono::seconds grace{1};
  if (!retired_ || over_ || has_holds()) return;
  wire_->close(grace, nullptr);
}

// -- The clock and the beats ----------------------------------------------------------------------

void ClientSession::on_lease() {
  if (!minds_clock_) check();
}

void ClientSession::check() {
  if (retired_ || over_) return;
  const auto core = core_.lock();
  if (!core) return;
  // The servers may end the session from now on.
  if (clock_has_run_out()) return core->give_up(*this, LossReason::lease_expired);
  const auto now = BootClock::now();
  if (heartbeat_.silent(now)) {
    core->log(LogLevel::warning, "the server does not answer; looking for another one");
    heartbeat_.disconnected();
    wire_->disconnect();
  }
  if (heartbeat_.due(now)) beat();
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
  timer_.expires_after(std::max(next - BootClock::now(), BootClock::duration{0}));
  timer_.async_wait([weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    if (self && !error) self->check();
  });
}

void ClientSession::beat() {
  Holds held = holds();
  std::erase_if(held, [](const auto& hold) { return hold->is_lost(); });
  const bool quorum = !held.empty();
  std::erase_if(held, [](const auto& hold) { return !hold->is_checkable(); });
  heartbeat_.sent(BootClock::now());
  if (held.empty()) {
    unanswered_ = 1;
    Request request = request::Exists{"/", nullptr};
    // Of a node that may not be checked nothing is learnt, but the clock must run.
    if (quorum) request = request::Multi{{transaction::Check{"/", any_version}}};
    wire_->submit(std::move(request), [weak = weak_from_this()](const Reply& reply) {
      if (const auto self = weak.lock()) self->on_beat({}, reply);
    });
    return;
  }
  // Far below the size that servers accept.
  constexpr std::ptrdiff_t most_in_one = 500;
  std::vector<Holds> parts;
  for (auto begin = held.begin(); begin != held.end();) {
    const auto end = begin + std::min(most_in_one, held.end() - begin);
    parts.emplace_back(begin, end);
    begin = end;
  }
  unanswered_ = static_cast<int>(parts.size());
  for (const Holds& part : parts) ask_for(part);
}

void ClientSession::ask_for(const Holds& holds) {
  request::Multi checks;
  for (const auto& hold : holds) {
    checks.operations.emplace_back(transaction::Check{hold->full_path(), any_version});
  }
  // A lease that is released meanwhile does not wait for the answer.
  std::vector<std::weak_ptr<HeldNode>> asked_for{holds.begin(), holds.end()};
  wire_->submit(std::move(checks),
                [weak = weak_from_this(), asked_for = std::move(asked_for)](const Reply& reply) {
                  if (const auto self = weak.lock()) self->on_beat(asked_for, reply);
                });
}

void ClientSession::on_beat(const std::vector<std::weak_ptr<HeldNode>>& asked_for,
                            const Reply& reply) {
  // What a lost connection left unanswered was another connection's beat.
  if (retired_ || over_ || reply.error == ServerErrc::connection_loss) return;
  if (--unanswered_ <= 0) heartbeat_.answered();
  if (reply.error && is_answer_of_server(reply.error)) {
    for (std::size_t i = 0; i < std::min(asked_for.size(), reply.results.size()); ++i) {
      if (reply.results[i].error != reply.error) continue;
      if (const auto hold = asked_for[i].lock()) hold->on_check_failed(reply.error);
      // Of those behind it nothing was said.
      heartbeat_.hurry(BootClock::now());
      break;
    }
  }
  check();
}

}  // namespace custodian::detail
