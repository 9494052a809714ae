#pragma once

/// \file
/// ZooKeeperSession is one ZooKeeper session on one strand: it dials the servers, hands connections
/// to the C client, drives its handle with Asio, and keeps its own tables of operations and
/// watches. Reconnect decides when it connects, and how it reconnects.

#include <boost/asio/steady_timer.hpp>
#include <map>
#include <optional>
#include <random>

#include "custodian/session/session.hpp"
#include "session/address_order.hpp"
#include "session/c_client.hpp"
#include "session/connection_record.hpp"
#include "session/connector.hpp"
#include "session/descriptor.hpp"
#include "session/reconnect.hpp"
#include "session/resolver.hpp"
#include "session/watch_table.hpp"

namespace custodian::detail {

class CredentialTrial;
class Probe;

class ZooKeeperSession final : public Session,
                               public std::enable_shared_from_this<ZooKeeperSession> {
 public:
  /// A probe shows whether servers accept new sessions (see Probe), or credentials (see
  /// CredentialTrial), and begins no probe of its own.
  enum class Role { session, probe };

  ZooKeeperSession(boost::asio::any_io_executor strand, SessionSettings settings,
                   std::weak_ptr<SessionObserver> observer, Role role = Role::session);
  ZooKeeperSession(const ZooKeeperSession&) = delete;
  ZooKeeperSession& operator=(const ZooKeeperSession&) = delete;
  ~ZooKeeperSession() override;

  void start() override;
  void submit(Request request, ReplyHandler handler) override;
  void unwatch(const std::shared_ptr<Watcher>& watcher) override;
  void close(std::chrono::milliseconds grace, std::function<void()> done) override;
  void retire() override;
  void disconnect() override;
  void set_servers(std::string servers) override;
  void set_credentials(std::vector<SessionSettings::Credential> credentials) override;
  [[nodiscard]] Load load() const override;

 private:
  struct Operation {
    explicit Operation(ReplyHandler completion) : handler{std::move(completion)} {}
    ReplyHandler handler;
    ReplyProof stamp;
    bool decided_by_quorum = false;  ///< whether a quorum decides the answer
    WatchTable::Key watch = 0;
    bool armed_by_no_node = false;
    std::shared_ptr<Watcher> watcher;
  };

  struct Closing {
    std::chrono::steady_clock::time_point deadline;
    std::function<void()> done;
  };

  // The loop: ask the C client what it waits for, wait for that, let it work, hand out the results.
  void pump();
  void schedule_pump();
  void on_no_connection();
  void wait_for(const Interest& interest);
  void wait_for_socket(const Interest& interest);
  void wake_after(std::chrono::milliseconds pause);
  void stop_timer();
  void work(bool readable, bool writable);
  void deliver();
  void complete(event::Completed& completed);
  void remove_unwanted_watches();

  // These functions carry out the decisions of Reconnect.
  void look_names_up();
  void look_names_up_again();
  void look_names_up_after_pause();
  void on_looked_up(Resolver::Result result);
  void keep_unresolved(Resolver::Result& result) const;
  void open_handle();
  void replace_addresses();
  void dial();
  void on_dialled(Dialled dialled);
  /// Records the addresses that the connector has dialled, if it has dialled more than the first.
  void take_note_of(const Dialled& dialled);
  /// Aborts the link of a connection that is given up: nothing more of it goes to the server.
  void drop_link();
  /// Ends the connection, as a network failure would.
  void cut_off();
  void on_attempt_failed();
  /// Cuts off an address that has not answered in time.
  void give_attempt_up();
  /// Whether no server works for this session until it authenticates.
  [[nodiscard]] bool is_refused_by_all() const;
  /// Called after an attempt that has failed, with what SASL had still to prove. May end the
  /// session.
  void on_unproven(SecureLink::Proof proof);
  /// Logs that the server has ended a connection before it answered the handshake.
  void log_unanswered();
  void on_interest_failed();
  void on_connected();
  void log_shortened_timeout();
  void on_disconnected();
  void on_session_over(SessionState state);
  void end_watches(error_code error);
  /// Gives up watches that could not be restored on the next connection, and all of them if one may
  /// have fired unseen.
  void drop_excess_watches();
  void forget(const std::vector<WatchTable::Dropped>& watches);
  /// Takes note of a refusal that the C client has left unread on a connection that is lost.
  void hear_last_words();
  /// Ends the session if, after a long time without a connection, a probe shows that the servers
  /// work but do not continue it.
  void look_for_refusals();
  void stop_probe();
  [[nodiscard]] std::vector<std::string> addresses() const;
  /// Ends a session that could never be used again, though the servers may still have it.
  void give_up(const std::string& reason);
  // These functions handle credentials that are set during the session.
  void accept(std::vector<SessionSettings::Credential> wanted);
  void refuse_credentials();
  void present_accepted(const Interest& interest);
  void stop_trial();
  /// Notifies the observer of Reconnect's state.
  void notify_state();
  void log(LogLevel level, std::string message);
  /// The level at which a line about connections is passed on.
  [[nodiscard]] LogLevel damped(LogLevel level, LogLevel& loudest) const;
  /// The level of a warning about TLS or SASL.
  [[nodiscard]] LogLevel damped_once_accepted();

  // These functions close the session; see close().
  void begin_closing(Closing closing);
  void pump_closing();
  void finish_closing();
  void wait_for_end_of_connection();
  void closed();
  void fail_operations(error_code error);
  /// Completes all operations that were sent on the connection that is gone.
  void fail_lost_operations();

  const pid_t process_;  ///< the process that began the session
  boost::asio::any_io_executor strand_;
  SessionSettings settings_;
  std::weak_ptr<SessionObserver> observer_;
  std::vector<HostPort> hosts_;
  Resolver resolver_;
  std::vector<Address> addresses_;
  AddressOrder order_;
  Connector connector_;
  Address dialled_;                   ///< the newest address that was dialled
  std::shared_ptr<SecureLink> link_;  ///< of the newest connection; null without TLS and SASL
  const Role role_;
  std::optional<CClient> client_;
  Descriptor descriptor_;
  boost::asio::steady_timer timer_;
  static constexpr auto never = std::chrono::steady_clock::time_point::max();
  std::chrono::steady_clock::time_point wakes_at_ = never;  ///< when the timer calls pump()
  std::minstd_rand random_{std::random_device{}()};

  Reconnect reconnect_;
  SessionInfo info_;
  std::map<std::uint64_t, Operation> operations_;
  WatchTable watches_;
  std::uint64_t next_operation_ = 1;
  /// The time of the newest connection's handshake, or a little earlier.
  BootClock::time_point handshake_;
  ConnectionRecord record_{settings_.session_timeout};
  /// Whether the watches, up to the limit, are restored on the next connection; otherwise none is.
  bool restores_all_ = true;
  /// All credentials that the handle presents, or will present as soon as it can.
  std::vector<SessionSettings::Credential> presented_;
  std::size_t to_present_ = 0;  ///< how many at the end of presented_ are not presented yet
  std::shared_ptr<CredentialTrial> trial_;
  std::shared_ptr<Probe> probe_;
  bool probed_ = false;  ///< the probe has its result
  /// The level of the loudest line of the C client's log in this outage.
  LogLevel loudest_ = LogLevel::debug;
  /// The level of the loudest line about addresses in this outage.
  LogLevel loudest_dialled_ = LogLevel::debug;
  /// The level of the loudest line about TLS and SASL in this outage. These lines count by
  /// themselves, because an expired ticket is news even after lines about servers that are away. A
  /// server that is away is no news after a line about TLS or SASL.
  LogLevel loudest_secured_ = LogLevel::debug;
  bool pump_scheduled_ = false;

  std::optional<Closing> closing_;  ///< set by close()
};

}  // namespace custodian::detail
