#pragma once

/// \file
/// ZooKeeper in memory, for tests of services that use Custodian: no Java, no sockets, and faults
/// at exactly the request where they are wanted.
///
///     custodian::testing::FakeEnsemble ensemble;
///     custodian::Client client{context.get_executor(), ensemble.options("worker")};
///
/// It is one data tree, shared by all clients that are made with it, and behaves as ZooKeeper 3.8
/// does for every request of a Client: modes, sequence numbers, versions, transactions, one-shot
/// watches and their order relative to replies, sessions that outlive connections and take their
/// ephemeral nodes along. ACLs are stored and not evaluated; use refuse().
///
/// Time does not pass in it, unless it is given a FakeClock: a session ends when it is closed or
/// expired (expire()), however long its client was cut off, while the client's own time is real.
/// With `FakeEnsembleOptions::clock` the test moves both, and a session ends after its timeout of
/// silence. In both cases nodes with a TTL stay, and empty containers stay until reap_containers().
///
/// When not to use it: to learn how ZooKeeper behaves; it knows what its authors knew. Keep some
/// tests on a `TestingServer`.
///
/// Threads: every function may be called from any thread, and from a FaultPlan. Lifetimes: clients
/// may outlive it.

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "custodian/client_options.hpp"
#include "custodian/testing/fake_clock.hpp"
#include "custodian/testing/fault_plan.hpp"

namespace custodian::testing {

class FakeServer;

/// The times of an ensemble.
struct FakeEnsembleOptions {
  /// From the loss of a connection to the next attempt to connect, and between attempts. Not with a
  /// clock: the next connection is then made at once, or as soon as it is accepted.
  std::chrono::milliseconds reconnect_pause{1};
  /// After this long a server that lags behind (`NextServer::lags_behind`, leave_server_behind())
  /// catches up by itself.
  std::chrono::milliseconds longest_lag{5};
  /// The clock by which sessions and the clients' leases end. Null: sessions do not end by
  /// themselves, and leases go by real time.
  std::shared_ptr<FakeClock> clock{};
};

/// ZooKeeper in memory, with faults at the requests that a test chooses.
/// \copydetails custodian/testing/fake_ensemble.hpp
class FakeEnsemble {
 public:
  /// An empty tree.
  explicit FakeEnsemble(FakeEnsembleOptions options = {});
  FakeEnsemble(const FakeEnsemble&) = delete;
  FakeEnsemble& operator=(const FakeEnsemble&) = delete;
  ~FakeEnsemble();

  /// For `ClientOptions::session_factory`. The name is what a FaultPlan, history() and cut_off()
  /// know the client by. A client of an ensemble that has a clock needs the same one in its
  /// `ClientOptions::clock`; with another one its constructor throws Error (invalid_argument).
  [[nodiscard]] SessionFactory session_factory(std::string client = {});
  /// Basic options of a client of this ensemble; with its clock, if it has one.
  [[nodiscard]] ClientOptions options(std::string client = {});

  /// \name Faults
  /// \{

  /// The plan for each request from now on; null: no faults.
  void set_fault_plan(std::shared_ptr<FaultPlan> plan);
  /// Delivers all replies that a FaultPlan has delayed.
  void release_replies();
  /// Applies the requests that a FaultPlan has made late (`FaultKind::apply_late`) and that are not
  /// applied yet; those of sessions that are over are refused, as always. Returns how many were
  /// applied.
  std::size_t apply_late_requests();
  /// Ends a session, as its timeout would. Does nothing if there is none of this id.
  void expire(std::int64_t session);
  /// Cuts a session's connection. It comes back by itself.
  void disconnect(std::int64_t session);
  /// A server stops at the present tree, and the next session that begins, of any client, begins
  /// there, as a *local* session can (`localSessionsEnabled`): it has seen nothing newer. The
  /// server catches up before it answers a write or a sync of this session, or by itself after
  /// `FakeEnsembleOptions::longest_lag`.
  void leave_server_behind();
  /// Cuts the connections of a client, by the name that it has here, and accepts none of it until
  /// let_in(): the network fails between it and all servers.
  void cut_off(const std::string& client);
  /// Ends what cut_off() began.
  void let_in(const std::string& client);
  /// Cuts all connections, and accepts none until start().
  void stop();
  /// Accepts connections again.
  void start();
  /// \}

  /// \name The tree, as an operator sees it
  /// Full paths, without a client's chroot or namespace. Each acts at once and fires watches.
  /// \{

  /// Whether there is such a node.
  [[nodiscard]] bool exists(const std::string& path) const;
  /// The names, sorted; empty if there is no such node.
  [[nodiscard]] std::vector<std::string> children(const std::string& path) const;
  /// Sends a request as a client without a session would. Watchers are ignored, and ephemeral modes
  /// have no owner: the node stays.
  Reply operate(const Request& request);
  /// Removes a node and all below it; does nothing if there is none.
  void remove_tree(const std::string& path);
  /// From now on every request that names this path, or that creates or removes a child of it,
  /// fails (no_auth).
  void refuse(const std::string& path);
  /// Ends what refuse() began.
  void permit(const std::string& path);
  /// The number that the next sequential child of a node gets. ZooKeeper's counter stops at 2^31
  /// - 1.
  void set_next_sequence(const std::string& parent, std::int32_t next);
  /// Removes the containers that have had children and have none now.
  void reap_containers();
  /// \}

  /// \name For assertions
  /// \{

  /// The requests of all connections, in the order in which they were sent.
  [[nodiscard]] std::vector<Submission> history() const;
  /// Forgets the requests so far.
  void clear_history();
  /// Watches that are armed on the servers, for one session or for all.
  [[nodiscard]] std::size_t watches(std::int64_t session) const;
  /// The watches of all sessions.
  [[nodiscard]] std::size_t watches() const;
  /// The ids of the sessions that are alive.
  [[nodiscard]] std::vector<std::int64_t> sessions() const;
  /// Whether a session is alive and its client is connected.
  [[nodiscard]] bool is_connected(std::int64_t session) const;
  /// \}

 private:
  std::shared_ptr<FakeServer> server_;
};

}  // namespace custodian::testing
