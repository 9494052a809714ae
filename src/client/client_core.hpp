#pragma once

/// \file
/// *ClientCore* is the state that all handles of a client share: the strand, the sessions, the
/// state of the connection, and the operations under way. It changes on the strand only, except for
/// the members that a mutex guards.

#include <sys/types.h>

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <map>
#include <mutex>
#include <random>
#include <typeindex>
#include <vector>

#include "base/boot_timers.hpp"
#include "base/paths.hpp"
#include "base/state_broadcast.hpp"
#include "client/client_session.hpp"
#include "client/drain.hpp"
#include "client/ensemble_follower.hpp"
#include "client/guaranteed_deletes.hpp"
#include "client/late_creates.hpp"
#include "client/sessions.hpp"
#include "custodian/authoring/bridge.hpp"
#include "custodian/authoring/service.hpp"
#include "custodian/client_options.hpp"
#include "custodian/connection_state.hpp"
#include "observe/observation.hpp"

namespace custodian::detail {

class Operation;
class Sasl;
class Tls;

/// What secures the connections of a client.
struct Security {
  std::shared_ptr<Tls> tls{};          ///< null without TLS
  std::shared_ptr<const Sasl> sasl{};  ///< null without SASL
};

/// Makes TLS if the options ask for it or their servers begin with "secure://", and SASL if the
/// options ask for it. Throws Error (invalid_argument).
[[nodiscard]] Security security_of(const ClientOptions& options);

class ClientCore final : public ObservedClient, public std::enable_shared_from_this<ClientCore> {
 public:
  using Strand = boost::asio::strand<boost::asio::any_io_executor>;
  /// How long a close waits until the end of the session is sent.
  static constexpr std::chrono::seconds close_grace{1};

  /// `keep_alive` is released last: it may own the context of the executors.
  ClientCore(const boost::asio::any_io_executor& executor, boost::asio::any_io_executor callbacks,
             ClientOptions options, Security security, std::shared_ptr<void> keep_alive);
  ~ClientCore() override;

  // Called on any thread.
  [[nodiscard]] const Strand& strand() const noexcept { return strand_; }
  [[nodiscard]] const boost::asio::any_io_executor& callback_executor() const noexcept {
    return callback_executor_;
  }
  [[nodiscard]] const ClientOptions& options() const noexcept { return options_; }
  [[nodiscard]] const PathPrefix& prefix() const noexcept { return prefix_; }
  /// Null without TLS.
  [[nodiscard]] const std::shared_ptr<Tls>& tls() const noexcept { return security_.tls; }
  /// Null without SASL.
  [[nodiscard]] const std::shared_ptr<const Sasl>& sasl() const noexcept { return security_.sasl; }
  [[nodiscard]] const std::shared_ptr<BootTimers>& boot_timers() const noexcept {
    return boot_timers_;
  }
  /// The time by the clock of the leases.
  [[nodiscard]] BootClock::time_point now() const noexcept override {
    return now_by(options_.clock);
  }
  [[nodiscard]] ConnectionState connection_state() const { return connection_.newest(); }
  [[nodiscard]] SessionInfo session_info() const;
  [[nodiscard]] std::string servers() const { return sessions_.servers(); }
  [[nodiscard]] Subscription listen(ConnectionListener listener) {
    return connection_.listen(std::move(listener));
  }
  [[nodiscard]] Service& use_service(
      std::type_index type,
      const std::function<std::unique_ptr<Service>(boost::asio::any_io_executor strand)>& make);
  /// Whether this process is a child, by fork(), of the one that made the client. The client has no
  /// threads in it, and its connection is the parent's: nothing may be done.
  [[nodiscard]] bool forked() const noexcept;
  [[nodiscard]] bool draining() const noexcept { return drain_.draining(); }
  /// Whether the calling thread runs the strand or the callbacks, and so must not block.
  [[nodiscard]] bool is_own_thread() const;
  void log(LogLevel level, std::string message) override;
  [[nodiscard]] std::string user_path(std::string_view full_path) const override;
  void call_observer(std::function<void()> call) override;
  /// Null if there is no observer.
  [[nodiscard]] Observation* observation() const noexcept { return observation_.get(); }
  /// Runs user code on the callback executor, in the order of these calls.
  template <typename Function>
  void call_back(Function function) {
    boost::asio::post(callbacks_, std::move(function));
  }
  /// Runs a function on the strand: at once if the caller is on it, otherwise later.
  template <typename Function>
  void on_strand(Function function) {
    boost::asio::dispatch(strand_, std::move(function));
  }

  void start();
  /// Calls back, on the strand, when the end of the session was sent or the grace has passed.
  /// Remaining holders are notified first. May be called again, even before the first call is over.
  void close(std::chrono::milliseconds grace, std::function<void()> done);
  void begin_drain();
  /// A lease begins (+1) or has ended (-1).
  void count_hold(int change) noexcept;
  /// A node becomes idle (+1), or is idle no more (-1).
  void count_idle(int change) noexcept { idle_ += change; }
  /// The number of nodes that are kept without a holder.
  [[nodiscard]] int idle() const noexcept { return idle_; }
  [[nodiscard]] Drain& drain() noexcept { return drain_; }

  // Called on the strand only.
  [[nodiscard]] Sessions& sessions() noexcept { return sessions_; }
  [[nodiscard]] Session& session() noexcept { return sessions_.current().wire(); }
  /// session_info() without a copy.
  [[nodiscard]] const SessionInfo& own_session_info() const noexcept { return info_; }
  /// Like Session::submit(), but refuses requests that the servers would not accept: see
  /// ClientSession.
  void submit(Request request, ReplyHandler handler) {
    sessions_.current().submit(std::move(request), std::move(handler));
  }
  [[nodiscard]] bool connected() const noexcept { return connected_; }
  [[nodiscard]] bool closed() const noexcept { return closing_; }
  [[nodiscard]] GuaranteedDeletes& deletes() noexcept { return deletes_; }
  [[nodiscard]] LateCreates& late_creates() noexcept { return late_creates_; }
  [[nodiscard]] double random() { return std::uniform_real_distribution{}(random_); }
  /// Lists an operation, so that it is resumed at a connection and ended at the close.
  void enter(Operation& operation);
  void leave(Operation& operation) noexcept;
  void finish_operations(const error_code& error);
  /// Completes when the state differs from `known`, or with `closed` if it never will.
  void wait_state(ConnectionState known, const CancellationPtr& cancellation,
                  Handler<ConnectionState> handler);

  /// The state of the present session has changed.
  void on_session_state(SessionState state, const SessionInfo& info);
  /// Another session takes the place of the present one, which the servers may still keep alive.
  void on_session_given_up();
  void set_connection_state(ConnectionState state);
  /// A server has answered a request of the present session.
  void on_answer();

 private:
  void end_sessions(std::chrono::milliseconds grace, std::function<void()> done);
  void on_session_over();
  void resume_operations();
  void begin_close(std::chrono::milliseconds grace);
  void notify_holders(std::chrono::milliseconds limit);
  void set_session_info(const SessionInfo& info);
  void clear_session_id();
  /// For the log: the server and the session of a new connection; empty for the other states.
  [[nodiscard]] std::string where(ConnectionState state) const;
  [[nodiscard]] std::vector<std::shared_ptr<Operation>> operations() const;
  /// All services. One that is made later begins its shutdown at once.
  [[nodiscard]] std::vector<Service*> ending_services();

  const std::shared_ptr<void> keep_alive_;
  const ClientOptions options_;
  const pid_t process_;
  const Strand strand_;
  const boost::asio::any_io_executor callback_executor_;
  const Strand callbacks_;  ///< keeps listeners' calls and log lines in order
  PathPrefix prefix_;
  const std::unique_ptr<Observation> observation_;
  const std::shared_ptr<BootTimers> boot_timers_;

  const Security security_;
  Sessions sessions_;
  Drain drain_;
  boost::asio::steady_timer timer_;  ///< bounds the time in which holders are notified of the end
  GuaranteedDeletes deletes_{*this};
  LateCreates late_creates_{*this};
  const std::unique_ptr<EnsembleFollower> follower_;  ///< null: the ensemble is not followed
  StateBroadcast<ConnectionState> connection_{ConnectionState::connecting};
  /// The operations under way, in the order in which they began.
  std::map<std::uint64_t, Operation*> operations_;
  std::minstd_rand random_{std::random_device{}()};
  std::uint64_t next_operation_ = 0;
  /// The number from which resume_operations() goes on; 0: no operation is left to resume.
  std::uint64_t next_to_resume_ = 0;
  bool resume_scheduled_ = false;
  bool connected_ = false;
  bool closing_ = false;
  bool shut_down_ = false;
  std::atomic<int> idle_ = 0;

  mutable std::mutex mutex_;  ///< guards what follows
  SessionInfo info_;
  std::map<std::type_index, std::unique_ptr<Service>> services_;
  bool services_end_ = false;
};

}  // namespace custodian::detail
