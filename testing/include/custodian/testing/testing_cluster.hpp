#pragma once

/// \file
/// A real ZooKeeper ensemble for a test: several `TestingServer`s on this machine that elect a
/// leader, and, if wanted, a network between them that can be cut.
///
/// \code
/// custodian::testing::TestingCluster cluster{{.peer_links = PeerLinks::proxied}};
/// custodian::Client client{cluster.connect_string()};
/// const auto leader = cluster.wait_for_leader();
/// cluster.isolate(leader);                 // from the others, not from its clients
/// cluster.wait_for_leader_other_than(leader);
/// cluster.heal_peers();
/// cluster.wait_until_serving();
/// \endcode
///
/// A member is identified by its index, from 0; ZooKeeper's own number for it ("myid") is one more.
///
/// With `PeerLinks::proxied` each member reaches every other member through `FaultProxy`s of its
/// own: its configuration has the ports of these proxies in the place of the other members' ports.
/// A link is cut by holding its bytes back (`FaultProxy::hold_back()`), as TCP sees a network that
/// is cut: both ends wait, until ZooKeeper's own limits end the wait. A leader steps down, and a
/// follower stops serving, about `sync_limit` ticks after it has last heard from the others; until
/// then it answers reads. After heal_peers() old messages arrive first, as in a real network.
///
/// A leader that can send but not receive (`isolate(leader, PeerDirection::incoming)`) may win the
/// next election, too, since the others receive its vote for itself. They then wait for that leader
/// for `init_limit` ticks, without success, and elect one of themselves.
///
/// With `TestingServerOptions::tls` in `TestingClusterOptions::server` each member has a second
/// port, for clients with TLS, and all have the same certificate: `secure_connect_string()`. The
/// members talk to each other in plain text.
///
/// When not to use it: where one `TestingServer` will do; three servers take three times the memory
/// and a second more to start.
///
/// Threads: one thread at a time. Lifetimes: as for `TestingServer`.

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "custodian/testing/fault_proxy.hpp"
#include "custodian/testing/testing_server.hpp"

namespace custodian::testing {

/// Whether the members talk to each other through proxies.
enum class PeerLinks { direct, proxied };
/// Whether clients talk to the members through proxies. If so, connect_string() names the proxies;
/// with TLS secure_connect_string() names them instead.
enum class ClientLinks { direct, proxied };

/// The direction of bytes between a member and others: bytes that it sends, or bytes that it
/// receives.
enum class PeerDirection { outgoing, incoming, both };

/// How lose_quorum() takes members away until regain_quorum().
enum class Loss {
  kill,   ///< SIGKILL: their connections end
  pause,  ///< SIGSTOP: their connections stay, and are silent
};

/// The options of an ensemble.
struct TestingClusterOptions {
  /// How many members the ensemble has.
  std::size_t size = 3;
  /// The links between members: proxied, if they are to be cut.
  PeerLinks peer_links = PeerLinks::direct;
  /// The links to clients: proxied, if they are to be cut.
  ClientLinks client_links = ClientLinks::direct;

  /// Ticks that a follower has to connect to a leader and to catch up with it.
  unsigned init_limit = 20;
  /// Ticks after which a leader and a follower that hear nothing from each other separate.
  unsigned sync_limit = 4;

  /// The options of each member. The ports are always free ones; `start_timeout` applies to the
  /// whole ensemble. "reconfigEnabled=true" in `config_lines` works with direct links only: it
  /// makes the members adopt their leader's view of the addresses.
  TestingServerOptions server{};
};

/// A real ZooKeeper ensemble for a test.
/// \copydetails custodian/testing/testing_cluster.hpp
class TestingCluster {
 public:
  /// Starts all members and waits until they serve. Throws `TestingError` as `TestingServer` does.
  explicit TestingCluster(TestingClusterOptions options = {});
  ~TestingCluster();
  TestingCluster(const TestingCluster&) = delete;
  TestingCluster& operator=(const TestingCluster&) = delete;

  /// How many members the ensemble has, running or not.
  [[nodiscard]] std::size_t size() const;
  /// The connection string of all members, or of the proxies in front of them. With TLS it names
  /// the members' plain ports, which have no proxies then.
  [[nodiscard]] std::string connect_string() const;
  /// The connection string of one member.
  [[nodiscard]] std::string connect_string(std::size_t member) const;
  /// The connection string of all members for clients with TLS: "secure://" and the members' ports
  /// for TLS, or the proxies in front of them. Throws `TestingError` without
  /// `TestingServerOptions::tls`.
  [[nodiscard]] std::string secure_connect_string() const;
  /// The connection string of one member for clients with TLS.
  [[nodiscard]] std::string secure_connect_string(std::size_t member) const;
  /// Like TestingServer::client_options(), with the addresses of all members.
  [[nodiscard]] ClientOptions client_options() const;
  /// Like TestingServer::expire(). Throws `TestingError` if no member leads.
  void expire(const Client& client) const;
  /// A member, for queries such as statistics(). To start and stop it, use the cluster.
  [[nodiscard]] const TestingServer& server(std::size_t member) const;

  /// \name Who leads
  /// \{

  /// The member that serves as leader; nothing if there is none. A deposed leader may not know yet
  /// that it is deposed: of several leaders, leader() returns the one with the latest epoch.
  [[nodiscard]] std::optional<std::size_t> leader() const;
  /// The members that serve as followers.
  [[nodiscard]] std::vector<std::size_t> followers() const;
  /// Whether a member serves, as leader or follower.
  [[nodiscard]] bool is_serving(std::size_t member) const;

  /// How long a wait may take; nothing: `TestingServerOptions::start_timeout`. A wait that takes
  /// longer throws `TestingError`, with the end of each server's log.
  using Limit = std::optional<std::chrono::milliseconds>;

  /// Waits until a member leads, and returns it.
  std::size_t wait_for_leader(Limit limit = {}) const;
  /// Waits until another member than this one leads, and returns it.
  std::size_t wait_for_leader_other_than(std::size_t member, Limit limit = {}) const;
  /// Waits until every member that runs, and is not paused, serves. A member that was paused or cut
  /// off may claim to serve until it notices.
  void wait_until_serving(Limit limit = {}) const;
  /// Waits until this member serves.
  void wait_until_serving(std::size_t member, Limit limit = {}) const;
  /// Waits until a member has stopped serving, because it is cut off and has noticed.
  void wait_until_not_serving(std::size_t member, Limit limit = {}) const;
  /// \}

  /// \name Members
  /// \{

  /// Starts a member that was stopped or killed. Does not wait until the member serves, since it
  /// may need other members for that.
  void start(std::size_t member);
  /// Calls `TestingServer::stop()` of a member.
  void stop(std::size_t member);
  /// Calls `TestingServer::kill()` of a member.
  void kill(std::size_t member);
  /// Calls stop() and start().
  void restart(std::size_t member);
  /// Calls `TestingServer::pause()` of a member.
  void pause(std::size_t member);
  /// Calls `TestingServer::resume()` of a member.
  void resume(std::size_t member);

  /// Kills or pauses members, the leader first, until the rest are no majority, and waits until
  /// none of the rest serves.
  void lose_quorum(Loss loss = Loss::kill);
  /// Starts or resumes all members that are stopped or paused, and waits until all serve.
  void regain_quorum();
  /// \}

  /// \name Links
  /// These functions, except heal_peers(), throw `TestingError` without proxies.
  /// \{

  /// Cuts the link between two members: all of it, or only the bytes that `member` sends to
  /// `other`, or only those that it receives.
  void cut_peers(std::size_t member, std::size_t other,
                 PeerDirection direction = PeerDirection::both);
  /// Cuts a member off from all others. Its clients still reach it.
  void isolate(std::size_t member, PeerDirection direction = PeerDirection::both);
  /// Heals all links between members.
  void heal_peers();

  /// The proxy in front of a member, for its clients; with TLS, in front of its port for TLS.
  [[nodiscard]] FaultProxy& client_proxy(std::size_t member);
  /// \}

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace custodian::testing
