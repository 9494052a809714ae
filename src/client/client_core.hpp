#pragma once

/// \file
/// *ClientCore* is a view of a client through one namespace: its paths are below the namespace. All
/// else belongs to the ClientState, which all views of a client share.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "base/paths.hpp"
#include "client/client_state.hpp"
#include "custodian/authoring/bridge.hpp"

namespace custodian::detail {

class ClientCore final : public ObservedClient {
 public:
  using Strand = ClientState::Strand;
  /// How long a close waits until the end of the session is sent.
  static constexpr std::chrono::seconds close_grace{1};

  /// The state owns the view. `name_space` is empty, or an absolute path.
  ClientCore(ClientState& state, std::string_view name_space);
  ~ClientCore() override;

  /// All owners of a view own the whole client.
  [[nodiscard]] CorePtr shared_from_this() { return {state_.shared_from_this(), this}; }
  /// Expired if the client is.
  [[nodiscard]] std::weak_ptr<ClientCore> weak_from_this() {
    return CorePtr{state_.weak_from_this().lock(), this};
  }

  // Called on any thread.
  [[nodiscard]] const Strand& strand() const noexcept { return state_.strand; }
  [[nodiscard]] const boost::asio::any_io_executor& callback_executor() const noexcept {
    return state_.callback_executor;
  }
  [[nodiscard]] const ClientOptions& options() const noexcept { return state_.options; }
  /// The prefix that the paths of this view have on the server.
  [[nodiscard]] const PathPrefix& prefix() const noexcept { return prefix_; }
  /// The namespace of this view: empty, or an absolute path.
  [[nodiscard]] const std::string& name_space() const noexcept { return name_space_; }
  /// The client as its own handle sees it: through `ClientOptions::name_space`.
  [[nodiscard]] ClientCore& own() const noexcept { return *state_.own; }
  /// The client as seen through another namespace, which is empty or an absolute path. The view
  /// lives as long as the client.
  [[nodiscard]] ClientCore& view(std::string_view name_space);
  /// A path of this view as the client's observer and ACL provider know it: below the client's own
  /// namespace, or else the path on the server.
  [[nodiscard]] std::string path_for_options(std::string_view path) const;
  /// Null without TLS.
  [[nodiscard]] const std::shared_ptr<Tls>& tls() const noexcept { return state_.security.tls; }
  /// Null without SASL.
  [[nodiscard]] const std::shared_ptr<const Sasl>& sasl() const noexcept {
    return state_.security.sasl;
  }
  [[nodiscard]] const std::shared_ptr<BootTimers>& boot_timers() const noexcept {
    return state_.boot_timers;
  }
  /// The time by the clock of the leases.
  [[nodiscard]] BootClock::time_point now() const noexcept override {
    return now_by(state_.options.clock);
  }
  [[nodiscard]] ConnectionState connection_state() const { return state_.connection.newest(); }
  [[nodiscard]] SessionInfo session_info() const;
  [[nodiscard]] std::string servers() const { return state_.sessions.servers(); }
  [[nodiscard]] Subscription listen(ConnectionListener listener) {
    return state_.connection.listen(std::move(listener));
  }
  [[nodiscard]] Service& use_service(
      std::type_index type,
      const std::function<std::unique_ptr<Service>(boost::asio::any_io_executor strand)>& make);
  /// Whether this process is a child, by fork(), of the one that made the client. In such a child
  /// the client has no threads, and its connection is the parent's: nothing may be done.
  [[nodiscard]] bool forked() const noexcept;
  [[nodiscard]] bool draining() const noexcept { return state_.drain.draining(); }
  /// Whether the calling thread runs the strand or the callbacks, and so must not block.
  [[nodiscard]] bool is_own_thread() const;
  void log(LogLevel level, std::string message) override;
  /// The log sink is not called any more; see LogGate::close().
  void end_log(Deadline deadline);
  [[nodiscard]] std::string user_path(std::string_view full_path) const override;
  void call_observer(std::function<void()> call) override;
  /// Null if there is no observer.
  [[nodiscard]] Observation* observation() const noexcept { return state_.observation.get(); }
  /// Runs user code on the callback executor, in the order of these calls.
  template <typename Function>
  void call_back(Function function) {
    boost::asio::post(state_.callbacks, std::move(function));
  }
  /// Runs a function on the strand: at once if the caller is on it, otherwise later.
  template <typename Function>
  void on_strand(Function function) {
    boost::asio::dispatch(state_.strand, std::move(function));
  }

  void start();
  /// Calls back, on the strand, when the end of the session was sent or the grace has passed.
  /// Remaining holders are notified first. May be called again, even before the first call is over.
  void close(std::chrono::milliseconds grace, std::function<void()> done);
  void begin_drain();
  /// A lease begins (+1) or has ended (-1).
  void count_hold(int change) noexcept;
  /// A node becomes idle (+1), or is idle no more (-1).
  void count_idle(int change) noexcept { state_.idle += change; }
  /// The number of nodes that are kept without a holder.
  [[nodiscard]] int idle() const noexcept { return state_.idle; }
  [[nodiscard]] Drain& drain() noexcept { return state_.drain; }

  // Called on the strand only.
  [[nodiscard]] Sessions& sessions() noexcept { return state_.sessions; }
  [[nodiscard]] Session& session() noexcept { return state_.sessions.current().wire(); }
  /// session_info() without a copy.
  [[nodiscard]] const SessionInfo& own_session_info() const noexcept { return state_.info; }
  /// Like Session::submit(), but refuses requests that the servers would not accept: see
  /// ClientSession.
  void submit(Request request, ReplyHandler handler) {
    state_.sessions.current().submit(std::move(request), std::move(handler));
  }
  [[nodiscard]] bool connected() const noexcept { return state_.connected; }
  [[nodiscard]] bool closed() const noexcept { return state_.closing; }
  [[nodiscard]] GuaranteedDeletes& deletes() noexcept { return state_.deletes; }
  [[nodiscard]] LateCreates& late_creates() noexcept { return state_.late_creates; }
  [[nodiscard]] double random() { return std::uniform_real_distribution{}(state_.random); }
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
  /// All services. A service that is made later begins its shutdown at once.
  [[nodiscard]] std::vector<Service*> ending_services();

  ClientState& state_;
  const std::string name_space_;
  const PathPrefix prefix_;
};

}  // namespace custodian::detail
