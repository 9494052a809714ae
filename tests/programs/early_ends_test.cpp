// The examples of how work ends early: cancelled, drained, or with its lock lost.

#include <csignal>
#include <string>

#include "custodian/client.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "program.hpp"
#include "support/catch.hpp"
#include "support/test_client.hpp"
#include "support/test_servers.hpp"

namespace custodian::tests::early_ends_test {

namespace {

/// Deletes the holder's node, and the waiter's, as an operator would.
void remove_nodes(custodian::Client& operators, const std::string& path) {
  for (const std::string& name : operators.children(path).names) {
    operators.remove(std::string{path}.append("/").append(name));
  }
}

}  // namespace

TEST_CASE("the example of cancellation ends both its waits") {
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_CANCELLATION, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "the thread was stopped, the handler was cancelled"));
}

TEST_CASE("the example of draining finishes its turn on SIGTERM") {
  Program drain{CUSTODIAN_EXAMPLE_DRAIN, {to_string(server_endpoint())}};
  REQUIRE(drain.says("working with token "));
  drain.signal(SIGTERM);
  const auto [status, output] = drain.result();
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "drained"));
}

TEST_CASE("the example of a lost lock stops when its node is deleted") {
  Program lost{CUSTODIAN_EXAMPLE_LOST, {to_string(server_endpoint())}};
  REQUIRE(lost.says("counting under "));
  custodian::Client bystander{custodian::ClientOptions{.servers = to_string(server_endpoint())}};
  remove_nodes(bystander, "/examples/counter");
  const auto [status, output] = lost.result();
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "stopped, the lock is lost"));
  bystander.remove("/examples/register");
}

TEST_CASE("the example of a lost lock counts on after an outage that costs no lock") {
  custodian::testing::FaultProxy proxy{server_endpoint()};
  Program lost{CUSTODIAN_EXAMPLE_LOST, {proxy.connect_string()}};
  REQUIRE(lost.says("counting under "));
  custodian::Client bystander{custodian::ClientOptions{.servers = to_string(server_endpoint())}};

  // A write is applied, and its reply to the example is lost.
  const std::uint64_t connections = proxy.accepted();
  proxy.cut_after_replies(1, custodian::testing::LastReply::is_lost);
  REQUIRE(eventually([&] { return proxy.accepted() > connections; }));
  const std::string before = bystander.get("/examples/register").data;
  CHECK(eventually([&] { return bystander.get("/examples/register").data != before; }));

  remove_nodes(bystander, "/examples/counter");
  const auto [status, output] = lost.result();
  INFO(output);
  CHECK(status == 0);
  bystander.remove("/examples/register");
}

TEST_CASE("the example of a lost lock in a coroutine stops when its node is deleted") {
  Program lost{CUSTODIAN_EXAMPLE_LOST_COROUTINE, {to_string(server_endpoint())}};
  REQUIRE(lost.says("working with token "));
  custodian::Client bystander{custodian::ClientOptions{.servers = to_string(server_endpoint())}};
  remove_nodes(bystander, "/examples/job");
  const auto [status, output] = lost.result();
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "stopped: somebody has deleted its node"));
}

}  // namespace custodian::tests::early_ends_test
