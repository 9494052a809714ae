#pragma once

/// \file
/// ZooKeeper in memory, for tests of services that use Custodian: no Java, no sockets, and faults
/// at exactly the request where they are wanted.
///
///     custodian::testing::FakeEnsemble ensemble;
///     custodian::Client client{context.get_executor(), ensemble.options("worker")};
///
/// It is one data tree, shared by all clients that are made with it, and behaves as ZooKeeper 3.8
/// does for everything that a Client can ask: modes, sequence numbers, versions, transactions,
/// one-shot watches and their order relative to replies, sessions that outlive connections and take
/// their ephemeral nodes along. ACLs are stored and not evaluated; use refuse().
///
/// Time does not pass in it, unless it is given a FakeClock: a session ends when it is closed or
/// told to (expire()), however long its client was cut off, while the client's own time is real.
/// With `FakeEnsembleOptions::clock` the test moves both, and a session of which nothing is heard
/// for its timeout ends. With or without, nodes with a TTL stay, and empty containers until
/// reap_containers().
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

/// How long what takes time takes.
struct FakeEnsembleOptions {
  /// From the loss of a connection to the attempt at the next one, and between attempts. Not with a
  /// clock: the next connection is then made at once, or as soon as it is accepted.
  std::chrono::milliseconds reconnect_pause{1};
  /// After this long a server that lags behind (`NextServer::lags_behind`, leave_server_behind())
  /// catches up by itself.
  std::chrono::milliseconds longest_lag{5};
  /// By which sessions end, and the clients' leases. Null: sessions do not end by themselves, and
  /// leases go by real time.
  std::shared_ptr<FakeClock> clock{};
};

/// ZooKeeper in memory, with faults at the request that is named.
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
  /// Options of a client of this ensemble, for a start; with its clock, if it has one.
  [[nodiscard]] ClientOptions options(std::string client = {});

  /// \name Faults
  /// \{

  /// Asked for each request from now on; null: none goes wrong.
  void set_fault_plan(std::shared_ptr<FaultPlan> plan);
  /// Lets go of all replies that a FaultPlan has delayed.
  void release_replies();
  /// Applies the requests that a FaultPlan has made late (`FaultKind::apply_late`) and that are not
  /// applied yet; those of sessions that are over are refused, as all of them. How many were
  /// applied.
  std::size_t apply_late_requests();
  /// Ends a session, as its timeout would. Does nothing if there is none of this id.
  void expire(std::int64_t session);
  /// Cuts a session's connection. It comes back by itself.
  void disconnect(std::int64_t session);
  /// A server stops where the tree is now, and the next session that begins, whoever's it is,
  /// begins there, as a *local* session can (`localSessionsEnabled`): nobody has seen more in it.
  /// The server catches up before it answers a write or a sync of this session, or by itself after
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
  /// Full paths, without anybody's chroot or namespace. Each acts at once and fires watches.
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
  /// Every request that names this path, or that creates or removes a child of it, fails (no_auth).
  void refuse(const std::string& path);
  /// Ends what refuse() began.
  void permit(const std::string& path);
  /// The number that the next sequential child of a node gets. ZooKeeper's counter stops at 2^31
  /// - 1.
  void set_next_sequence(const std::string& parent, std::int32_t next);
  /// Removes the containers that have had children and have none.
  void reap_containers();
  /// \}

  /// \name For assertions
  /// \{

  /// What was sent on any connection, in the order in which it was sent.
  [[nodiscard]] std::vector<Submission> history() const;
  /// Forgets what was sent so far.
  void clear_history();
  /// Watches that are armed on the servers, for one session or for all.
  [[nodiscard]] std::size_t watches(std::int64_t session) const;
  /// Of all sessions.
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
