// How the harness serves the clients of its servers: their options, and the end of their sessions.

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/testing/testing_cluster.hpp"
#include "custodian/testing/testing_server.hpp"
#include "integration/clusters.hpp"
#include "support/acquired.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::harness_clients_test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a client with the options of its server may have a short session") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::TestingServer server;
  ClientOptions options = server.client_options();
  CHECK(options.servers == server.connect_string());
  CHECK(options.touch_interval == 375ms);
  options.session_timeout = 3 * options.touch_interval;
  Client client{options};
  client.wait_connected();
  CHECK(client.session().timeout == options.session_timeout);
  InterProcessMutex mutex{client, "/lock"};
  CHECK(acquired(mutex.try_acquire_for(patience)));
}

TEST_CASE("a server ends a client's session when it is told to, and its lease is lost") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::TestingServer server;
  Client client{server.client_options()};
  client.wait_connected();
  const std::int64_t first = client.session().id;
  InterProcessMutex mutex{client, "/lock"};
  const Lease lease = mutex.acquire();
  server.expire(client);
  CHECK(eventually([&] { return lease.state() == LeaseState::lost; }));
  CHECK(eventually(
      [&] { return is_connected(client.connection_state()) && client.session().id != first; }));
  client.close();
  CHECK_THROWS_AS(server.expire(client), testing::TestingError);
}

TEST_CASE("an ensemble gives its clients their options, and ends a client's session") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::TestingCluster cluster{quick_cluster()};
  const ClientOptions options = cluster.client_options();
  CHECK(options.servers == cluster.connect_string());
  Client client{options};
  client.wait_connected();
  const std::int64_t first = client.session().id;
  cluster.expire(client);
  CHECK(eventually(
      [&] { return is_connected(client.connection_state()) && client.session().id != first; }));
}

}  // namespace
}  // namespace custodian::tests::harness_clients_test
