#include "client/lease_clock.hpp"

#include <algorithm>

namespace custodian::detail {

// -- LeaseClock -----------------------------------------------------------------------------------

void LeaseClock::connected(const SessionInfo& session) {
  const Duration timeout = session.timeout;
  const bool is_new = timeout_ == Duration::zero();
  timeout_ = is_new ? timeout : std::min(timeout_, timeout);
  connection_ = session.connection;
  handshake_ = session.handshake;
  answers_.clear();
  if (is_new) credit(handshake_);
}

void LeaseClock::disconnected() {
  connection_ = 0;
  answers_.clear();
}

void LeaseClock::answered(const ReplyProof& stamp) {
  if (connection_ == 0 || stamp.connection != connection_) return;
  if (stamp.quorum_result) {
    credit(handshake_);
    while (!answers_.empty() && stamp.sent >= answers_.front().answered + touch_interval_) {
      credit(answers_.front().sent);
      answers_.pop_front();
    }
  }
  // Answers come in order: the next quorum result will credit the second answer, too, which was
  // sent no earlier than the first. So the first answer is not needed any more.
  while (answers_.size() > 1 && stamp.sent >= answers_[1].answered + touch_interval_) {
    answers_.pop_front();
  }
  // Of many answers to requests that were sent at nearly the same time, one is enough.
  const Duration resolution = timeout_ / 100;
  if (answers_.empty() || stamp.sent >= answers_.back().sent + resolution) {
    answers_.push_back({stamp.sent, stamp.acknowledged});
  }
}

void LeaseClock::credit(Time time) noexcept { credited_ = std::max(credited_, time); }

LeaseClock::Time LeaseClock::valid_until() const noexcept {
  const Duration margin = timeout_ / 10;
  return credited_ + timeout_ - margin;
}

// -- Heartbeat ------------------------------------------------------------------------------------

Heartbeat::Duration Heartbeat::interval(Duration timeout, Duration touch_interval) noexcept {
  const Duration longest = timeout / 6;
  // A tenth is added for the time of an answer.
  const Duration span = touch_interval + touch_interval / 10;
  const auto beats = (span + longest - Duration{1}) / longest;
  return beats <= 1 ? longest : span / beats;
}

void Heartbeat::connected(Time now, Duration timeout, Duration touch_interval) {
  connected_ = true;
  awaiting_answer_ = false;
  timeout_ = timeout;
  interval_ = interval(timeout, touch_interval);
  next_beat_ = now + interval_;
}

void Heartbeat::disconnected() {
  connected_ = false;
  awaiting_answer_ = false;
}

void Heartbeat::sent(Time now) {
  awaiting_answer_ = true;
  waiting_since_ = now;
  next_beat_ = now + interval_;
}

void Heartbeat::answered() { awaiting_answer_ = false; }

void Heartbeat::heard(Time now) { waiting_since_ = std::max(waiting_since_, now); }

void Heartbeat::hurry(Time now) { next_beat_ = std::min(next_beat_, now); }

bool Heartbeat::due(Time now) const noexcept {
  return connected_ && !awaiting_answer_ && now >= next_beat_;
}

bool Heartbeat::silent(Time now) const noexcept {
  return connected_ && awaiting_answer_ && now >= waiting_since_ + timeout_ / 4;
}

Heartbeat::Time Heartbeat::next() const noexcept {
  if (!connected_) return Time::max();
  return awaiting_answer_ ? waiting_since_ + timeout_ / 4 : next_beat_;
}

}  // namespace custodian::detail
