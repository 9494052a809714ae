#pragma once

/// \file
/// ClientSession is one session of a client: its wire (the Session below it), its lease clock and
/// beats, and its leases.

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/boot_timers.hpp"
#include "client/lease_clock.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/session/session.hpp"
#include "session/reconnect.hpp"

namespace custodian::detail {

class ClientCore;

/// *SessionLease* is a lease as its session sees it.
class SessionLease {
 public:
  SessionLease() = default;
  SessionLease(const SessionLease&) = delete;
  SessionLease& operator=(const SessionLease&) = delete;
  virtual ~SessionLease() = default;

  // Called on any thread.
  /// The path of the lease's node, as the server knows it.
  [[nodiscard]] virtual const std::string& full_path() const noexcept = 0;
  /// Whether a loss is known by now; the clock is not read.
  [[nodiscard]] virtual bool is_lost() const noexcept = 0;
  /// Whether the lease's node is idle: kept without a holder.
  [[nodiscard]] virtual bool is_idle() const noexcept = 0;
  /// Ends hand-overs: the node gets no other holder, and is deleted if it is idle.
  virtual void end_passing() = 0;

  // Called on the strand only.
  /// Whether the servers let the client check that the node is there.
  [[nodiscard]] virtual bool is_checkable() const noexcept = 0;
  /// Ends the lease for ever; the first reason counts.
  virtual void lose(LossReason reason) = 0;
  virtual void on_session_state() = 0;
  /// A quorum has answered the check of the node with this error, or the check was too large to be
  /// sent.
  virtual void on_check_failed(const error_code& error) = 0;
};

class ClientSession final : public SessionObserver,
                            public std::enable_shared_from_this<ClientSession> {
 public:
  explicit ClientSession(const CorePtr& core);
  /// Begins the session, which has no connection before.
  void start(SessionSettings settings);

  // Called on any thread.
  /// The session's id; 0 before the servers have given it one.
  [[nodiscard]] std::int64_t id() const noexcept { return id_; }
  [[nodiscard]] bool connected() const noexcept { return connected_; }
  /// Until this moment, the session is certainly alive, and its locks are certainly held.
  [[nodiscard]] BootClock::time_point valid_until() const noexcept { return valid_until_; }
  /// Until this moment, enough time is left before valid_until() for a new holder.
  [[nodiscard]] BootClock::time_point comfortable_until() const noexcept {
    return comfortable_until_;
  }
  /// Adds a lease, even after the end of the session; the lease is lost then.
  void add(const std::shared_ptr<SessionLease>& hold);
  void remove(const SessionLease& hold);

  // Called on the strand only.
  [[nodiscard]] Session& wire() noexcept { return *wire_; }
  /// All requests of the client go through here. A request that is larger than the servers accept
  /// is not sent, since they would close the connection: it is answered with request_too_large.
  void submit(Request request, ReplyHandler handler);
  [[nodiscard]] const LeaseClock& clock() const noexcept { return clock_; }
  [[nodiscard]] bool has_holds() const;
  /// There is a new lease: makes sure that the clock is monitored.
  void on_lease();
  /// Called when a lease has found that the lease clock has run out, and so is lost. The other
  /// leases of the session are lost, too, unless an answer has extended the clock meanwhile.
  void give_up_if_run_out();
  /// Ends every lease, with this reason.
  void lose_holds(LossReason reason);
  /// Deletes the idle nodes.
  void release_idle();
  /// Whether the node at this path is idle.
  [[nodiscard]] bool has_idle(std::string_view full_path) const;
  /// Whether a node is held: not lost, not idle.
  [[nodiscard]] bool has_held_node() const;
  /// Takes no new requests, and closes the session when the last lease on it has been released. If
  /// no server can be reached for a session timeout, the client stops trying, and the servers end
  /// the session by themselves.
  void retire();

  void on_state(SessionState state, const SessionInfo& info) override;
  void on_answer(const ReplyProof& stamp) override;
  void on_log(LogLevel level, std::string message) override;
  void on_credentials_refused(const std::vector<SessionSettings::Credential>& kept) override;

 private:
  using Leases = std::vector<std::shared_ptr<SessionLease>>;
  /// The leases that a request of the beat checks. Weak: a lease may be released before the answer.
  using AskedFor = std::vector<std::weak_ptr<SessionLease>>;

  [[nodiscard]] BootClock::time_point now() const noexcept { return now_by(time_); }
  [[nodiscard]] Leases holds() const;
  void set_clock();
  void on_connection(SessionState state, const SessionInfo& info);
  /// Closes a retired session that has no lease left.
  void close_if_free();
  /// Sets the timer that ends a retired session after a session timeout without a connection.
  void abandon_unless_connected();
  [[nodiscard]] bool has_live_holds() const;
  [[nodiscard]] bool clock_has_run_out() const;
  /// Checks the clock, and sends the beats.
  void check();
  void schedule();
  void beat();
  /// Sends the next parts of the beat.
  void go_on_with_beat();
  void on_beat(const AskedFor& asked_for, const Reply& reply);
  void on_check_failed(const AskedFor& asked_for, const Reply& reply);

  const std::weak_ptr<ClientCore> core_;
  const std::shared_ptr<Clock> time_;  ///< null: BootClock
  std::shared_ptr<Session> wire_;
  LeaseClock clock_;
  Heartbeat heartbeat_;
  BootTimer timer_;
  Purpose purpose_ = Purpose::serving;
  /// Whether the timer also waits for the end of the lease clock, because there is a lease.
  bool minds_clock_ = false;
  /// The leases that the newest beat has still to check.
  std::deque<std::weak_ptr<SessionLease>> to_ask_for_;
  int unanswered_ = 0;  ///< parts of the beat that wait for their answers

  std::atomic<std::int64_t> id_ = 0;
  std::atomic<bool> connected_ = false;
  std::atomic<BootClock::time_point> valid_until_{BootClock::time_point::min()};
  std::atomic<BootClock::time_point> comfortable_until_{BootClock::time_point::min()};

  mutable std::mutex mutex_;  ///< guards what follows
  std::map<const SessionLease*, std::weak_ptr<SessionLease>> holds_;
};

}  // namespace custodian::detail
