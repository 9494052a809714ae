/// \file
/// A server with Netty's connection factory serves the tests like one with the default factory.

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/testing/testing_cluster.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::netty_server_test {
namespace {

using namespace std::chrono_literals;
using testing::TestingServerOptions;

TestingServerOptions netty_options() {
  TestingServerOptions options;
  options.connection_factory = testing::ConnectionFactory::netty;
  // With this option the server logs that it uses Netty.
  options.java_options = {
      "-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper.server.NettyServerCnxnFactory=info"};
  return options;
}

}  // namespace

TEST_CASE("a Netty server serves a lock, and serves it again when it is restarted") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server{netty_options()};
  CHECK(server.log_tail().find("NettyServerCnxnFactory") != std::string::npos);

  Client client{options_for(server.connect_string())};
  InterProcessMutex mutex{client, "/lock"};
  const FencingToken before = mutex.acquire().token();

  server.restart();
  Lease lease = mutex.acquire();
  CHECK(lease.token() > before);
  CHECK(mutex.participants().size() == 1);
}

TEST_CASE("a Netty server tells its statistics and who watches what") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server{netty_options()};
  CHECK(server.four_letter_word("ruok") == "imok");
  CHECK(server.statistics().at("zk_server_state") == "standalone");
  CHECK(server.statistic("zk_watch_count") == 0);

  Client holding{options_for(server.connect_string())};
  Client waiting{options_for(server.connect_string())};
  InterProcessMutex held{holding, "/lock"};
  InterProcessMutex awaited{waiting, "/lock"};
  Lease lease = held.acquire();
  const Outcome<Lease> turn;
  awaited.async_acquire(turn.handler());
  CHECK(eventually([&] { return server.watches_by_session().contains(waiting.session().id); }));
  CHECK(server.statistic("zk_watch_count") > 0);
  lease.release();
  CHECK(turn.future().wait_for(patience) == std::future_status::ready);
}

TEST_CASE("a session on a Netty server can be expired, and its lock is lost") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server{netty_options()};
  Client client{options_for(server.connect_string())};
  InterProcessMutex mutex{client, "/lock"};
  const Lease lease = mutex.acquire();

  const SessionInfo session = client.session();
  server.expire_session(session.id, session.password);

  CHECK(eventually([&] { return lease.lost().stop_requested(); }));
  CHECK(mutex.acquire().token() > lease.token());
}

TEST_CASE("a cluster of Netty servers elects a leader, and serves a lock") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::TestingClusterOptions options;
  options.server = netty_options();
  testing::TestingCluster cluster{secured(options)};
  CHECK(cluster.followers().size() == 2);

  Client client{options_for(connect_string(cluster))};
  InterProcessMutex mutex{client, "/lock"};
  const FencingToken before = mutex.acquire().token();
  cluster.restart(cluster.wait_for_leader());
  CHECK(mutex.acquire().token() > before);
}

}  // namespace custodian::tests::netty_server_test
