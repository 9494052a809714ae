// An ensemble whose members have TLS ports, even if the other tests do without TLS.

#include <fstream>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "custodian/testing/testing_cluster.hpp"
#include "integration/clusters.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::secure_cluster_test {
namespace {

using namespace std::chrono_literals;
using testing::ClientLinks;
using testing::TestingCluster;
using testing::TestingError;

const testing::CertificateAuthority& the_authority() {
  static const testing::CertificateAuthority authority;
  return authority;
}

testing::TestingClusterOptions secure_cluster() {
  testing::TestingClusterOptions options = quick_cluster();
  options.server.tls = the_authority().server_tls();
  return options;
}

/// The options of a client that trusts only this authority.
ClientOptions secure_options(const TestingCluster& cluster) {
  ClientOptions options = plain_options_for(cluster.secure_connect_string());
  const auto ca_file = cluster.server(0).directory() / "ca.pem";
  std::ofstream{ca_file} << the_authority().certificate();
  options.tls = TlsOptions{.ca_file = ca_file.string()};
  return options;
}

/// The member to whose TLS port the client is connected.
std::size_t member_of(const Client& client, const TestingCluster& cluster) {
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    if (client.session().server == to_string(cluster.server(i).secure_endpoint())) return i;
  }
  throw std::logic_error{"the client is not connected to a port for TLS: " +
                         client.session().server};
}

TEST_CASE("a client over TLS goes to another member when its own is killed, with its session") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingCluster cluster{secure_cluster()};
  ClientOptions options = secure_options(cluster);
  options.session_timeout = 30s;
  Client client{options};
  InterProcessMutex mutex{client, "/lock"};
  const Lease lease = mutex.acquire();
  const std::int64_t session = client.session().id;

  for (int round = 0; round < 2; ++round) {
    const std::size_t first = member_of(client, cluster);
    const std::uint64_t connection = client.session().connection;
    cluster.kill(first);
    CHECK(eventually([&] { return client.session().connection > connection; }));
    CHECK(client.exists(lease.node()));
    CHECK(member_of(client, cluster) != first);
    cluster.start(first);
    cluster.wait_until_serving();
  }
  CHECK(client.session().id == session);
  CHECK(lease.state() == LeaseState::held);
}

TEST_CASE("members with TLS serve clients without it, too, at ports of their own") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingCluster cluster{secure_cluster()};
  Client plain{plain_options_for(cluster.connect_string())};
  Client secure{secure_options(cluster)};
  plain.create("/seen", "by both");
  secure.sync("/seen");
  CHECK(secure.get("/seen").data == "by both");
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    CHECK(cluster.connect_string(i) == to_string(cluster.server(i).endpoint()));
    CHECK(cluster.secure_connect_string(i) ==
          "secure://" + to_string(cluster.server(i).secure_endpoint()));
  }
  CHECK(cluster.secure_connect_string().starts_with(cluster.secure_connect_string(0) + ","));
}

TEST_CASE("the links of clients with TLS can be cut") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::TestingClusterOptions proxied = secure_cluster();
  proxied.client_links = ClientLinks::proxied;
  TestingCluster cluster{proxied};
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    CHECK(cluster.secure_connect_string(i) ==
          "secure://" + cluster.client_proxy(i).connect_string());
    CHECK(cluster.connect_string(i) == to_string(cluster.server(i).endpoint()));
  }
  Client client{secure_options(cluster)};
  client.wait_connected();
  const SessionInfo before = client.session();
  for (std::size_t i = 0; i < cluster.size(); ++i) cluster.client_proxy(i).cut();
  CHECK(eventually([&] { return client.session().connection > before.connection; }));
  CHECK(client.exists("/"));
  CHECK(client.session().id == before.id);
}

TEST_CASE("an ensemble without TLS has no connection string for it") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::TestingClusterOptions options;
  options.size = 1;
  const TestingCluster cluster{options};
  CHECK_THROWS_AS(cluster.secure_connect_string(), TestingError);
  CHECK_THROWS_AS(cluster.secure_connect_string(0), TestingError);
}

}  // namespace
}  // namespace custodian::tests::secure_cluster_test
