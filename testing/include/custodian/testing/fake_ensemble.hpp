#pragma once

/// \file
/// ZooKeeper in memory, for tests of services that use Custodian: no Java, no sockets, and faults
/// at exactly the request where they are wanted.
///
///     custodian::testing::FakeEnsemble ensemble;
///     custodian::Client client{context.get_executor(), ensemble.options("worker")};
///
/// An ensemble is one data tree, shared by all clients that are made with it, and behaves as
/// ZooKeeper 3.8 does for every request of a Client: modes, sequence numbers, versions,
/// transactions, one-shot watches and their order relative to replies, sessions that outlive
/// connections and take their ephemeral nodes along. ACLs are stored and not evaluated; use
/// refuse().
///
/// Without a FakeClock no time passes in the ensemble, while its clients live in real time: a
/// session ends only when it is closed or expired (expire()), however long its client was cut off.
/// With `FakeEnsembleOptions::clock` the test moves the time of both, and a session ends when its
/// client has been silent for the session timeout. In both cases nodes with a TTL stay, and empty
/// containers stay until reap_containers().
///
/// When not to use it: to learn how ZooKeeper behaves; the fake knows only what its authors knew.
/// Keep some tests on a `TestingServer`.
///
/// Threads: every function may be called from any thread, and from a FaultPlan. Lifetimes: clients
/// may outlive the ensemble.

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

/// The options of an ensemble, which are all about time.
struct FakeEnsembleOptions {
  /// The pause between the loss of a connection and the next attempt to connect, and between
  /// attempts. With a clock it is not used: the next connection is made at once, or as soon as it
  /// is accepted.
  std::chrono::milliseconds reconnect_pause{1};
  /// The time after which a server that lags behind (`NextServer::lags_behind`,
  /// leave_server_behind()) catches up by itself.
  std::chrono::milliseconds longest_lag{5};
  /// The clock by which sessions and the clients' leases end. Null: sessions do not end by
  /// themselves, and leases go by real time.
  std::shared_ptr<FakeClock> clock{};
};

/// ZooKeeper in memory, with faults at the requests that a test chooses.
/// \copydetails custodian/testing/fake_ensemble.hpp
class FakeEnsemble {
 public:
  /// Makes an ensemble with an empty tree.
  explicit FakeEnsemble(FakeEnsembleOptions options = {});
  FakeEnsemble(const FakeEnsemble&) = delete;
  FakeEnsemble& operator=(const FakeEnsemble&) = delete;
  ~FakeEnsemble();

  /// The value for `ClientOptions::session_factory`. `client` is the name by which a FaultPlan,
  /// history() and cut_off() know the client. A client of an ensemble that has a clock needs the
  /// same one in its `ClientOptions::clock`; with a different clock the client's constructor throws
  /// Error (invalid_argument).
  [[nodiscard]] SessionFactory session_factory(std::string client = {});
  /// Basic options of a client of this ensemble, with the ensemble's clock if there is one.
  [[nodiscard]] ClientOptions options(std::string client = {});

  /// \name Faults
  /// \{

  /// Sets the plan that is asked for each request from now on; null: no faults.
  void set_fault_plan(std::shared_ptr<FaultPlan> plan);
  /// Delivers all replies that a FaultPlan has delayed.
  void release_replies();
  /// Applies the requests that a FaultPlan has made late (`FaultKind::apply_late`) and that are not
  /// applied yet; those of sessions that are over are refused, as always. Returns how many were
  /// applied.
  std::size_t apply_late_requests();
  /// Ends a session, as its timeout would. Does nothing if no session has this id.
  void expire(std::int64_t session);
  /// Cuts a session's connection. The client connects again by itself.
  void disconnect(std::int64_t session);
  /// Leaves one server behind: it keeps the present tree. The next session of any client begins at
  /// that server, as a *local* session can (`localSessionsEnabled`), and has seen nothing newer.
  /// The server catches up before it answers a write or a sync of this session, or by itself after
  /// `FakeEnsembleOptions::longest_lag`.
  void leave_server_behind();
  /// Cuts the connections of the client with this name, and accepts none from it until let_in():
  /// the network between the client and all servers has failed.
  void cut_off(const std::string& client);
  /// Accepts connections from the client again, after cut_off().
  void let_in(const std::string& client);
  /// Cuts all connections, and accepts none until start().
  void stop();
  /// Accepts connections again.
  void start();
  /// \}

  /// \name The tree, as an operator sees it
  /// Paths are full: no client's chroot or namespace is added. Each function acts at once and fires
  /// watches.
  /// \{

  /// Whether the node exists.
  [[nodiscard]] bool exists(const std::string& path) const;
  /// The names of a node's children, sorted; empty if the node does not exist.
  [[nodiscard]] std::vector<std::string> children(const std::string& path) const;
  /// Applies a request that comes from no session, and returns the reply. Watchers are ignored. An
  /// ephemeral node that the request creates has no owner, so the node stays.
  Reply operate(const Request& request);
  /// Removes a node and all below it; does nothing if the node does not exist.
  void remove_tree(const std::string& path);
  /// From now on every request that names this path, or that creates or removes a child of it,
  /// fails (no_auth), except `exists` and `sync`, which ZooKeeper permits to every client.
  void refuse(const std::string& path);
  /// Ends the effect of refuse() on this path.
  void permit(const std::string& path);
  /// Sets the number that the next sequential child of a node gets. ZooKeeper's counter stops at
  /// 2147483647.
  void set_next_sequence(const std::string& parent, std::int32_t next);
  /// Sets the version of a node's data, as that many writes would. ZooKeeper's version wraps
  /// around, and passes -1. Does nothing if the node does not exist.
  void set_version(const std::string& path, std::int32_t version);
  /// Removes the containers that have had children and have none now.
  void reap_containers();
  /// \}

  /// \name For assertions
  /// \{

  /// The requests of all connections, in the order in which they were sent.
  [[nodiscard]] std::vector<Submission> history() const;
  /// Forgets the requests so far.
  void clear_history();
  /// How many watches are armed on the servers for one session.
  [[nodiscard]] std::size_t watches(std::int64_t session) const;
  /// How many watches are armed on the servers for all sessions together.
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
