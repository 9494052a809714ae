#pragma once

/// \file
/// LeaseClock decides when a session's hold on its locks is certain, and when it is in doubt. Pure:
/// the caller passes in stamps and times, and acts on the answers.
///
/// The servers end a session when its timeout T has passed since their leader last heard of it. A
/// leader hears of it by each request that it processes itself; a follower reports the sessions
/// that it has heard from only with its answer to the leader's next ping, every half tick
/// (Learner.ping, LearnerHandler; ZooKeeper 3.8 to 3.10). And a follower, or a leader that has been
/// replaced without knowing, may go on answering reads for a while. So no single answer proves that
/// the leader has heard. These prove it:
///
/// - a request that was answered at time r, and another on the same connection that was sent at
///   least the *touch interval* after r and came to a result that a quorum decided: in between, the
///   connection's server was in touch with the leader. The session is *credited* with the time when
///   the first of the two was sent.
/// - a reconnection, and the first such result on it: credited with the time of its handshake;
/// - the handshake of a new session: the leader made it.
///
/// Until T, less a margin, has passed since the newest credited time, no other session can have got
/// its locks. Assumed: clocks run at nearly the same rate, and a server answers its leader's ping
/// within the touch interval; the margin, a tenth of T, covers the rest.

#include <deque>

#include "custodian/session/session.hpp"

namespace custodian::detail {

class LeaseClock {
 public:
  using Time = BootClock::time_point;
  using Duration = BootClock::duration;

  explicit LeaseClock(Duration touch_interval) : touch_interval_{touch_interval} {}

  /// There is a connection. The first one is that of a new session.
  void connected(const SessionInfo& session);
  void disconnected();
  void answered(const ReplyProof& stamp);

  /// The smallest timeout that was negotiated in this session; zero before the first connection.
  [[nodiscard]] Duration timeout() const noexcept { return timeout_; }
  [[nodiscard]] Duration touch_interval() const noexcept { return touch_interval_; }
  /// Whether the timeout is long enough for requests to be credited as described above.
  [[nodiscard]] bool can_run() const noexcept { return timeout_ >= least_timeout(touch_interval_); }
  [[nodiscard]] static constexpr Duration least_timeout(Duration touch_interval) noexcept {
    return 3 * touch_interval;
  }
  /// Before this moment, the session is certainly alive.
  [[nodiscard]] Time valid_until() const noexcept;
  /// How much time must be left before valid_until() for a lock to be granted, so that its holder
  /// has time to work and to be notified of a loss.
  [[nodiscard]] Duration comfortable_rest() const noexcept { return timeout_ / 3; }

 private:
  struct Answer {
    Time sent;
    Time answered;
  };

  void credit(Time time) noexcept;

  const Duration touch_interval_;
  Duration timeout_{0};
  std::uint64_t connection_ = 0;  ///< 0: none
  Time credited_{};
  /// The time of this connection's handshake, which is credited by a quorum result on the
  /// connection.
  Time handshake_{};
  /// The answers of this connection, in order, that are not credited yet.
  std::deque<Answer> answers_;
};

/// Heartbeat decides when a session must send a beat, to keep its LeaseClock running. Pure.
///
/// A beat is sent every T/6, or a little more often, so that a whole number of beats spans the
/// touch interval: otherwise each credit would wait for one more beat. If no answer of any kind has
/// come for T/4, with a beat on its way, the connection is dead, or the server is cut off.
class Heartbeat {
 public:
  using Time = LeaseClock::Time;
  using Duration = LeaseClock::Duration;

  [[nodiscard]] static Duration interval(Duration timeout, Duration touch_interval) noexcept;

  /// There is a connection: the first beat is due after an interval.
  void connected(Time now, Duration timeout, Duration touch_interval);
  void disconnected();
  void sent(Time now);
  void answered();
  /// An answer of any kind has come: the answers to earlier requests come before the answer to the
  /// beat.
  void heard(Time now);
  /// A check is wanted now: the next beat is due at once.
  void hurry(Time now);

  [[nodiscard]] bool due(Time now) const noexcept;
  /// Whether the connection must be given up.
  [[nodiscard]] bool silent(Time now) const noexcept;
  /// When due() or silent() may have become true; `Time::max()` without a connection.
  [[nodiscard]] Time next() const noexcept;

 private:
  bool connected_ = false;
  bool awaiting_answer_ = false;
  Duration timeout_{0};
  Duration interval_{0};
  Time next_beat_{};
  Time waiting_since_{};  ///< since when an answer is awaited
};

}  // namespace custodian::detail
