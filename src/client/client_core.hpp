#pragma once

/// \file
/// What all handles of a client share: the strand, the session, the state of the connection, what
/// is under way. The strand orders everything but what a mutex guards.

#include <sys/types.h>

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <typeindex>
#include <vector>

#include "base/boot_timers.hpp"
#include "base/paths.hpp"
#include "base/state_waiters.hpp"
#include "base/weak_list.hpp"
#include "client/guaranteed_deletes.hpp"
#include "client/late_creates.hpp"
#include "custodian/authoring/bridge.hpp"
#include "custodian/authoring/service.hpp"
#include "custodian/client_options.hpp"
#include "custodian/connection_state.hpp"
#include "custodian/deadline.hpp"
#include "lease/client_session.hpp"

namespace custodian::detail {

class Observation;
class Operation;

class ClientCore final : public std::enable_shared_from_this<ClientCore> {
 public:
  using Strand = boost::asio::strand<boost::asio::any_io_executor>;
  /// How long the end of a session may take to be sent.
  static constexpr std::chrono::seconds close_grace{1};

  /// `keep_alive` is released last: it may own the context of the executors.
  ClientCore(const boost::asio::any_io_executor& executor, boost::asio::any_io_executor callbacks,
             ClientOptions options, std::shared_ptr<void> keep_alive);
  ~ClientCore();
  ClientCore(const ClientCore&) = delete;
  ClientCore& operator=(const ClientCore&) = delete;

  // Any thread.
  [[nodiscard]] const Strand& strand() const noexcept { return strand_; }
  [[nodiscard]] const boost::asio::any_io_executor& callback_executor() const noexcept {
    return callback_executor_;
  }
  [[nodiscard]] const ClientOptions& options() const noexcept { return options_; }
  [[nodiscard]] const PathPrefix& prefix() const noexcept { return prefix_; }
  [[nodiscard]] const std::shared_ptr<BootTimers>& boot_timers() const noexcept {
    return boot_timers_;
  }
  /// What leases are told by.
  [[nodiscard]] BootClock::time_point now() const noexcept { return now_by(options_.clock); }
  [[nodiscard]] ConnectionState connection_state() const;
  [[nodiscard]] SessionInfo session_info() const;
  /// Those that are looked for, as in a connection string; without the chroot.
  [[nodiscard]] std::string servers() const;
  /// The same without a copy, on the strand.
  [[nodiscard]] const SessionInfo& own_session_info() const noexcept { return info_; }
  [[nodiscard]] Subscription listen(ConnectionListener listener);
  [[nodiscard]] Service& use_service(
      std::type_index type,
      const std::function<std::unique_ptr<Service>(boost::asio::any_io_executor strand)>& make);
  /// Whether this is a child of the process that the client belongs to, where nothing may be done.
  [[nodiscard]] bool forked() const noexcept;
  [[nodiscard]] bool draining() const noexcept { return draining_; }
  /// Whether a thread that blocks now is one that runs the strand or the callbacks.
  [[nodiscard]] bool is_own_thread() const;
  void log(LogLevel level, std::string message);
  /// Null if there is no observer.
  [[nodiscard]] Observation* observation() const noexcept { return observation_.get(); }
  /// Runs user code on the callback executor, in the order of these calls.
  template <typename Function>
  void call_back(Function function) {
    boost::asio::post(callbacks_, std::move(function));
  }
  /// Runs on the strand: now if this is it, or later.
  template <typename Function>
  void on_strand(Function function) {
    boost::asio::dispatch(strand_, std::move(function));
  }

  void start();
  /// Calls back, on the strand, when the end of the session was sent or the grace has passed. Those
  /// who still hold something are told first. May be called again, also before it is over.
  void close(std::chrono::milliseconds grace, std::function<void()> done);
  void begin_drain();

  void count_hold(int change) noexcept;
  [[nodiscard]] bool has_hold() const;
  /// Until nobody holds anything, or the client is closed.
  void wait_until_drained(Deadline deadline);
  /// Whether somebody held something when the client was closed.
  [[nodiscard]] bool cut_holders_off() const;

  // The strand only.
  [[nodiscard]] Session& session() noexcept { return session_->wire(); }
  /// As Session::submit(), and nothing that the servers would not accept: see ClientSession.
  void submit(Request request, ReplyHandler handler) {
    session_->submit(std::move(request), std::move(handler));
  }
  /// The client's session, if it has this id; null otherwise.
  [[nodiscard]] std::shared_ptr<ClientSession> session_of(std::int64_t id) const;
  /// Serves everybody with a new session. The leases on this one are lost; it is closed when the
  /// last of them has been released: to close it at once would hand their locks on at once.
  void give_up(ClientSession& session, LossReason reason);
  /// The same, if it is still the client's.
  void end_session(std::int64_t id);
  [[nodiscard]] bool connected() const noexcept { return connected_; }
  [[nodiscard]] bool closed() const noexcept { return closing_; }
  [[nodiscard]] GuaranteedDeletes& deletes() noexcept { return deletes_; }
  [[nodiscard]] LateCreates& late_creates() noexcept { return late_creates_; }
  [[nodiscard]] double random() { return std::uniform_real_distribution{}(random_); }
  void enter(Operation& operation);
  void leave(Operation& operation) noexcept;
  void set_servers(const std::string& servers);
  void set_credentials(std::vector<SessionSettings::Credential> credentials);
  /// The session goes on with these.
  void on_credentials_refused(const ClientSession& session,
                              const std::vector<SessionSettings::Credential>& kept);
  /// Cancels a timer when nobody holds anything any more, or the client is closed; call it before.
  void cancel_when_drained(const std::shared_ptr<boost::asio::steady_timer>& timer);
  void wait_state(ConnectionState known, const CancellationPtr& cancellation,
                  Handler<ConnectionState> handler);

  void on_session_state(ClientSession& session, SessionState state, const SessionInfo& info);
  /// A server has answered a request of the client's session.
  void on_answer();

 private:
  void begin_session();
  /// A session has ended this way.
  void replace_session(SessionState end);
  void begin_session_after(std::chrono::milliseconds pause);
  void end_sessions(std::chrono::milliseconds grace, std::function<void()> done);
  void on_session_over();
  void resume_operations();
  void on_drained();
  void begin_close(std::chrono::milliseconds grace);
  void set_session_info(const SessionInfo& info);
  void set_connection_state(ConnectionState state);
  /// Of a state with a connection: to which server, in which session, for the log.
  [[nodiscard]] std::string where(ConnectionState state) const;
  [[nodiscard]] std::vector<std::shared_ptr<Operation>> operations() const;
  [[nodiscard]] std::vector<Service*> services() const;

  const std::shared_ptr<void> keep_alive_;
  const ClientOptions options_;
  const pid_t process_;
  const Strand strand_;
  const boost::asio::any_io_executor callback_executor_;
  const Strand callbacks_;  ///< keeps listeners' calls and log lines in order
  PathPrefix prefix_;
  const std::unique_ptr<Observation> observation_;
  const std::shared_ptr<BootTimers> boot_timers_;

  std::shared_ptr<ClientSession> session_;
  /// Given up, and not closed yet.
  std::vector<std::shared_ptr<ClientSession>> retired_;
  std::vector<SessionSettings::Credential> credentials_;  ///< of the next session
  /// Of the newest session that the servers have answered; the first ones, before that.
  std::vector<SessionSettings::Credential> proven_credentials_;
  std::vector<SessionSettings::Credential> begun_with_;  ///< of the present session
  bool answered_ = false;                                ///< has the present session been?
  bool pauses_ = false;  ///< between two sessions: the timer begins the next one
  boost::asio::steady_timer timer_;
  GuaranteedDeletes deletes_{*this};
  LateCreates late_creates_{*this};
  StateWaiters<ConnectionState> state_waiters_;
  std::vector<std::weak_ptr<boost::asio::steady_timer>> drain_timers_;
  /// Of calls to close() that came while holders were told.
  std::vector<std::function<void()>> closers_;
  /// In the order in which they began.
  std::map<std::uint64_t, Operation*> operations_;
  std::minstd_rand random_{std::random_device{}()};
  std::uint64_t next_operation_ = 0;
  /// Of those that wait for a connection: the next to be sent; 0: none is left.
  std::uint64_t next_to_resume_ = 0;
  bool resume_scheduled_ = false;
  bool connected_ = false;
  bool closing_ = false;
  bool telling_holders_ = false;
  bool shut_down_ = false;
  std::atomic<bool> draining_ = false;

  mutable std::mutex mutex_;  ///< guards what follows
  std::condition_variable drained_;
  ConnectionState state_ = ConnectionState::connecting;
  SessionInfo info_;
  std::string servers_;
  WeakList<ConnectionListener> listeners_;
  std::map<std::type_index, std::unique_ptr<Service>> services_;
  int holds_ = 0;
  std::optional<bool> cut_holders_off_;  ///< known when the client is closed
};

/// Throws Error (invalid_argument) if the client cannot have these.
void check_credentials(std::string_view operation,
                       const std::vector<ClientOptions::Credential>& credentials,
                       std::size_t max_request_size);
/// Throws Error (invalid_argument) if the servers do not take a transaction that writes these data
/// into the node twice.
void check_written_twice(const ClientCore& core, std::string_view operation, std::string_view path,
                         std::string_view data);
/// The same credentials, as a session takes them.
[[nodiscard]] std::vector<SessionSettings::Credential> for_a_session(
    const std::vector<ClientOptions::Credential>& credentials);

}  // namespace custodian::detail
