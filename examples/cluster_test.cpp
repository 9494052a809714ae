// A test of your own, with real failures: a leader that is cut off, and a reply that is lost. It
// needs Java and ZooKeeper's jar files, and no servers: it starts them.
//
//   custodian-example-cluster_test

#include <chrono>
#include <exception>
#include <iostream>
#include <stdexcept>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "custodian/testing/testing_cluster.hpp"
#include "custodian/testing/testing_server.hpp"

using namespace std::chrono_literals;

/// The function under test: it takes its turn, or throws if it could not.
custodian::FencingToken take_turn(const custodian::Client& client) {
  custodian::InterProcessMutex mutex{client, "/examples/turns"};
  const custodian::AcquireResult result = mutex.try_acquire_for(30s);
  if (!result) throw std::runtime_error{"no turn within half a minute"};
  return result.lease.token();
}

void turns_go_on_when_the_leader_is_cut_off() {
  custodian::testing::TestingCluster cluster{
      {.peer_links = custodian::testing::PeerLinks::proxied}};
  const custodian::Client client{cluster.connect_string()};
  const auto before = take_turn(client);

  const auto leader = cluster.wait_for_leader();
  cluster.isolate(leader);
  cluster.wait_for_leader_other_than(leader);
  if (take_turn(client) <= before) throw std::logic_error{"the token did not grow"};

  cluster.heal_peers();
  cluster.wait_until_serving();
  if (take_turn(client) <= before) throw std::logic_error{"the token did not grow"};
}

void a_lost_reply_costs_no_turn() {
  const custodian::testing::TestingServer server;
  custodian::testing::FaultProxy proxy{server.endpoint()};
  const custodian::Client client{proxy.connect_string()};
  take_turn(client);

  // The server carries out the next request, and its reply does not arrive.
  proxy.cut_after_replies(1, custodian::testing::LastReply::is_lost);
  take_turn(client);
}

int main() {
  try {
    turns_go_on_when_the_leader_is_cut_off();
    a_lost_reply_costs_no_turn();
    std::cout << "all turns were taken\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
