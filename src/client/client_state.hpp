#pragma once

/// \file
/// *ClientState* is what all handles of a client share, whatever their namespace: the strand, the
/// sessions, the state of the connection, and the operations under way. ClientCore has the
/// functions. The state changes on the strand only, except for atomic members, and those that a
/// mutex guards.

#include <sys/types.h>

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <typeindex>
#include <utility>

#include "base/boot_timers.hpp"
#include "base/state_broadcast.hpp"
#include "client/client_session.hpp"
#include "client/drain.hpp"
#include "client/ensemble_follower.hpp"
#include "client/guaranteed_deletes.hpp"
#include "client/late_creates.hpp"
#include "client/log_gate.hpp"
#include "client/sessions.hpp"
#include "custodian/authoring/service.hpp"
#include "custodian/client_options.hpp"
#include "custodian/connection_state.hpp"
#include "observe/observation.hpp"

namespace custodian::detail {

class ClientCore;
class Operation;
class Sasl;
class Tls;

/// The parts that secure the connections of a client.
struct Security {
  std::shared_ptr<Tls> tls{};          ///< null without TLS
  std::shared_ptr<const Sasl> sasl{};  ///< null without SASL
};

/// Makes TLS if the options ask for it or their servers begin with "secure://", and SASL if the
/// options ask for it. Throws Error (invalid_argument).
[[nodiscard]] Security security_of(const ClientOptions& options);

struct ClientState final : std::enable_shared_from_this<ClientState> {
  using Strand = boost::asio::strand<boost::asio::any_io_executor>;

  /// `context` is released last: it may own the context of the executors.
  ClientState(const boost::asio::any_io_executor& executor, boost::asio::any_io_executor callback,
              ClientOptions client_options, Security client_security,
              std::shared_ptr<void> context);
  ClientState(const ClientState&) = delete;
  ClientState& operator=(const ClientState&) = delete;
  ~ClientState();

  const std::shared_ptr<void> keep_alive;
  const ClientOptions options;
  const std::string chroot;
  const pid_t process;
  const Strand strand;
  const boost::asio::any_io_executor callback_executor;
  const Strand callbacks;  ///< keeps listeners' calls and log lines in order
  /// The client as its own handle sees it: through `ClientOptions::name_space`.
  const std::unique_ptr<ClientCore> own;
  const std::unique_ptr<Observation> observation;
  LogGate log_gate;
  const std::shared_ptr<BootTimers> boot_timers;

  const Security security;
  Sessions sessions;
  Drain drain;
  boost::asio::steady_timer timer;  ///< bounds the time in which holders are notified of the end
  GuaranteedDeletes deletes;
  LateCreates late_creates;
  const std::unique_ptr<EnsembleFollower> follower;  ///< null: the ensemble is not followed
  StateBroadcast<ConnectionState> connection{ConnectionState::connecting};
  /// The operations under way, in the order in which they began.
  std::map<std::uint64_t, Operation*> operations;
  std::minstd_rand random{std::random_device{}()};
  std::uint64_t next_operation = 0;
  /// The number from which resume_operations() goes on; 0: no operation is left to resume.
  std::uint64_t next_to_resume = 0;
  bool resume_scheduled = false;
  bool connected = false;
  bool closing = false;
  bool shut_down = false;
  std::atomic<int> idle = 0;

  mutable std::mutex mutex;  ///< guards what follows
  SessionInfo info;
  /// The client as seen through other namespaces, by the server's path of their root.
  std::map<std::string, std::unique_ptr<ClientCore>, std::less<>> views;
  /// Each view has services of its own, because a path that a service remembers is another node in
  /// another view.
  std::map<std::pair<const ClientCore*, std::type_index>, std::unique_ptr<Service>> services;
  bool services_end = false;
};

}  // namespace custodian::detail
