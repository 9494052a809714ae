#include <iostream>
#include <string>

#include "custodian/client.hpp"
#include "program.hpp"
#include "support/catch.hpp"
#include "support/test_servers.hpp"

namespace custodian::tests::programs_test {

TEST_CASE("the examples of a thread, a coroutine and a callback hold a lock and print a token") {
  for (const char* example :
       {CUSTODIAN_EXAMPLE_THREAD, CUSTODIAN_EXAMPLE_COROUTINE, CUSTODIAN_EXAMPLE_CALLBACK}) {
    const auto [status, output] = run(example, {to_string(server_endpoint())});
    INFO(example << ": " << output);
    CHECK(status == 0);
    CHECK(contains(output, "printing with token "));
  }
}

TEST_CASE("the example of readers and writers writes, tells and reads") {
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_READ_WRITE, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "writing with token "));
  CHECK(contains(output, "telling what was written\nreading\n"));
}

TEST_CASE("the example of an own recipe waits until so many have signed in") {
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_OWN_RECIPE, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "at least 2 are there\n"));
  CHECK(contains(output, "at least 3 are there\n"));
  CHECK(contains(output, "no fourth comes\n"));
}

TEST_CASE("the example of a semaphore has one permit, then three, then two") {
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_SEMAPHORE, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "with one licence of five\n"));
  CHECK(contains(output, "with 3 licences of five\nthe rest takes only 2\n"));
}

TEST_CASE("the example of a shared count adds one, and is told so") {
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_SHARED_COUNT, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "4 workers\nfrom now on 5 workers\n"));
  custodian::Client bystander{custodian::ClientOptions{.servers = to_string(server_endpoint())}};
  bystander.remove("/examples/workers");
}

TEST_CASE("the example of a mirror reads its settings, and is told of a change") {
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_MIRROR, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "serving, with a limit of 10\n"));
  CHECK(contains(output, "changed /examples/settings/limit\nserving, with a limit of 20\n"));
}

TEST_CASE("the example of a condition packs each order that was taken in") {
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_CONDITION, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "packed books\n"));
  CHECK(contains(output, "packed shoes\n"));
}

TEST_CASE("the example of a barrier keeps its workers waiting until it is removed") {
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_BARRIER, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  for (const char* worker : {"worker 1", "worker 2", "worker 3"}) {
    CHECK(contains(output, std::string{worker} + " works\n"));
  }
}

TEST_CASE("the example of a latch opens when all parts are ready, and leaves nothing") {
  const auto [status, output] =
      run(CUSTODIAN_EXAMPLE_COUNT_DOWN_LATCH, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  for (const char* line : {"the database serves\n", "the cache serves\n", "the gate serves\n",
                           "the service is open\n"}) {
    CHECK(contains(output, line));
  }
  custodian::Client bystander{custodian::ClientOptions{.servers = to_string(server_endpoint())}};
  CHECK_FALSE(bystander.exists("/examples/start/release-7"));
}

TEST_CASE("the example of a double barrier begins and ends together, and leaves no member") {
  const auto [status, output] =
      run(CUSTODIAN_EXAMPLE_DOUBLE_BARRIER, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  for (const char* machine : {"machine 1", "machine 2", "machine 3"}) {
    CHECK(contains(output, std::string{machine} + " begins\n"));
    CHECK(contains(output, std::string{machine} + ": all are done\n"));
  }
}

TEST_CASE(
    "the example of a persistent node has its node again after a deletion, and not in the end") {
  const auto [status, output] =
      run(CUSTODIAN_EXAMPLE_PERSISTENT_NODE, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  const auto says = output.find("/examples/workers/worker-1 says working\n");
  REQUIRE(says != std::string::npos);
  CHECK(output.find("/examples/workers/worker-1 says working\n", says + 1) != std::string::npos);
  CHECK(output.find("it is gone\n") != std::string::npos);
}

TEST_CASE("the example of a daily job runs it once, and names the process that has run it") {
  const auto [status, output] =
      run(CUSTODIAN_EXAMPLE_ONCE_PER_PERIOD, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "the report for Monday\nnot here: "));
  CHECK(contains(output, " has run it, begun 2"));
}

TEST_CASE("the example of a map has its locks at both ensembles, and refuses another layout") {
  const Server second;
  const std::string first = to_string(server_endpoint());
  const auto [status, output] =
      run(CUSTODIAN_EXAMPLE_ENSEMBLE_MAP, {first, to_string(second.plain_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "layout "));
  for (const char* place : {"locked at zk-1\n", "locked at zk-2\n", "selling from stripe "}) {
    CHECK(contains(output, place));
  }
  const Result other = run(CUSTODIAN_EXAMPLE_ENSEMBLE_MAP, {first});
  INFO(other.output);
  CHECK(other.status == 1);
  CHECK(contains(other.output, "zk-1 has the layout "));
}

TEST_CASE("the example of a moving map keeps a lease while its home moves, and tokens grow") {
  const Server second;
  const std::string first = to_string(server_endpoint());
  const auto [status, output] =
      run(CUSTODIAN_EXAMPLE_MOVING_MAP, {first, to_string(second.plain_endpoint())});
  INFO(output);
  CHECK(status == 0);
  // The generation in which the path came to its home is in front: 1 << 32, then 2 << 32.
  for (const char* part :
       {"packing 4711 at east, token 4294967296:", "leading at west, token 4294967296:",
        "packing 4711 at west, token 8589934592:"}) {
    CHECK(contains(output, part));
  }
}

TEST_CASE("the example of a partition shares its shards, and none is left without an owner") {
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_PARTITION, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "two workers have eight between them\nworker-1 has all eight again\n"));
}

TEST_CASE("the example of a group sees its workers come and go") {
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_GROUP, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "worker-1 at 10.0.0.1\nworker-2 at 10.0.0.2\n"));
  CHECK(contains(output, "worker-1 has joined\n"));
  CHECK(contains(output, "1 is left\n"));
}

TEST_CASE("the example of phases finds all parts in each of them, and leaves nothing") {
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_PHASES, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "all 12 parts are done\n"));
  CHECK_FALSE(contains(output, "missing"));
}

TEST_CASE("the example of a distributed atomic counts, and sells its stock once") {
  const auto [status, output] =
      run(CUSTODIAN_EXAMPLE_DISTRIBUTED_ATOMIC, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "from 0 to 3 in 1 try\nparcels 0 and 1\ntaken, then sold out\n"));
  custodian::Client bystander{custodian::ClientOptions{.servers = to_string(server_endpoint())}};
  CHECK(bystander.get("/examples/orders").data == std::string("\0\0\0\0\0\0\0\x04", 8));
  bystander.remove("/examples/orders", {.descendants = custodian::Descendants::are_removed});
  bystander.remove("/examples/parcels");
  bystander.remove("/examples/in-stock");
}

TEST_CASE("the example of a rate limiter sends its calls, and those of a quiet time") {
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_RATE_LIMITER, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, ".................... sent\nsent, too\n"));
  custodian::Client bystander{custodian::ClientOptions{.servers = to_string(server_endpoint())}};
  bystander.remove("/examples/calls");
}

TEST_CASE("the example of transact() pays once, and has not enough the second time") {
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_TRANSACT, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "paid\nnot enough\n20 and 30\n"));
  custodian::Client bystander{custodian::ClientOptions{.servers = to_string(server_endpoint())}};
  bystander.remove("/examples-accounts", {.descendants = custodian::Descendants::are_removed});
}

TEST_CASE("the example of a striped mutex sells its stock twice, and compares") {
  const auto [status, output] =
      run(CUSTODIAN_EXAMPLE_STRIPED_MUTEX, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "sold from 1, 0 left\nsold from 5, 0 left\n"));
  const auto comparison = output.find("one mutex: ");
  REQUIRE(comparison != std::string::npos);
  // The figures are shown in the log only: no test may fail because of speed.
  std::cout << "  " << output.substr(comparison);
}

TEST_CASE(
    "the example of a kept lock asks the servers seldom, and gives the lock to another instance") {
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_KEPT_LOCK, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "10000 requests, "));
  CHECK(contains(output, "; 1 lock is kept\n"));
  CHECK(contains(output, "another instance had its turn; 0 locks are kept by the first\n"));
}

TEST_CASE("the example of an election leads, and sees who leads") {
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_LATCH, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "leading with token "));
  CHECK(contains(output, "machine 7, port 8080 leads\n"));
}

TEST_CASE("the example of several locks holds both") {
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_MULTI_LOCK, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  const std::string line = "holding one with token ";
  const auto first = output.find(line);
  REQUIRE(first != std::string::npos);
  CHECK(output.find(line, first + 1) != std::string::npos);
  CHECK(contains(output, "holding /var/spool"));
}

TEST_CASE("the example of a function under a lock makes its report") {
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_WITH_LOCK, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "making the report of Meyer & Sons with token "));
  CHECK(contains(output, "12 pages\n"));
}

TEST_CASE("the example of a function under a lock in a coroutine sells one") {
  const auto [status, output] =
      run(CUSTODIAN_EXAMPLE_WITH_LOCK_COROUTINE, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "sold a lamp with token "));
}

TEST_CASE("the example of a log writes the lines of its client") {
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_LOG, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "custodian: info: connection connected"));
}

TEST_CASE("the example of a test takes all its turns") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_CLUSTER_TEST, {});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "all turns were taken"));
}

#ifdef CUSTODIAN_EXAMPLE_DISCOVERY
TEST_CASE("the example of service discovery avoids a printer that fails, and a disabled one") {
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_DISCOVERY, {to_string(server_endpoint())});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output,
                 "first is at http://10.0.0.7:631/printer, and says "
                 "{\"@class\":\"com.example.PrinterDetails\",\"colour\":true}\n"));
  CHECK(contains(output, "page 4 goes to http://10.0.0.7:63"));
  CHECK(contains(output,
                 "page 1 goes to http://10.0.0.7:632/printer\n"
                 "page 2 goes to http://10.0.0.7:632/printer\nno printer is there\n"));
}
#endif

#ifdef CUSTODIAN_EXAMPLE_SECURE_TEST
TEST_CASE("the example over TLS locks, and a client reads what is its own and no more") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_SECURE_TEST, {});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "locked over TLS"));
  CHECK(contains(output, "the worker reads 1"));
  CHECK(contains(output, "and of the owner's: not allowed by the node's ACL"));
}
#endif

TEST_CASE("the example of a test without a server takes its turns") {
  const auto [status, output] = run(CUSTODIAN_EXAMPLE_FAKE_TEST, {});
  INFO(output);
  CHECK(status == 0);
  CHECK(contains(output, "all turns were taken"));
}

TEST_CASE("an example says how it is called, and what is wrong with a connection string") {
  for (const char* example : {CUSTODIAN_EXAMPLE_THREAD,
                              CUSTODIAN_EXAMPLE_COROUTINE,
                              CUSTODIAN_EXAMPLE_CALLBACK,
                              CUSTODIAN_EXAMPLE_CANCELLATION,
                              CUSTODIAN_EXAMPLE_CONDITION,
                              CUSTODIAN_EXAMPLE_DOUBLE_BARRIER,
                              CUSTODIAN_EXAMPLE_DRAIN,
                              CUSTODIAN_EXAMPLE_ENSEMBLE_MAP,
                              CUSTODIAN_EXAMPLE_LATCH,
                              CUSTODIAN_EXAMPLE_LOG,
                              CUSTODIAN_EXAMPLE_LOST,
                              CUSTODIAN_EXAMPLE_LOST_COROUTINE,
                              CUSTODIAN_EXAMPLE_MIRROR,
                              CUSTODIAN_EXAMPLE_MULTI_LOCK,
                              CUSTODIAN_EXAMPLE_OWN_RECIPE,
                              CUSTODIAN_EXAMPLE_PARTITION,
                              CUSTODIAN_EXAMPLE_ONCE_PER_PERIOD,
                              CUSTODIAN_EXAMPLE_GROUP,
                              CUSTODIAN_EXAMPLE_PERSISTENT_NODE,
                              CUSTODIAN_EXAMPLE_PHASES,
                              CUSTODIAN_EXAMPLE_READ_WRITE,
                              CUSTODIAN_EXAMPLE_SEMAPHORE,
                              CUSTODIAN_EXAMPLE_SHARED_COUNT,
                              CUSTODIAN_EXAMPLE_BARRIER,
                              CUSTODIAN_EXAMPLE_COUNT_DOWN_LATCH,
                              CUSTODIAN_EXAMPLE_DISTRIBUTED_ATOMIC,
                              CUSTODIAN_EXAMPLE_RATE_LIMITER,
                              CUSTODIAN_EXAMPLE_TRANSACT,
                              CUSTODIAN_EXAMPLE_STRIPED_MUTEX,
                              CUSTODIAN_EXAMPLE_WITH_LOCK,
                              CUSTODIAN_EXAMPLE_WITH_LOCK_COROUTINE}) {
    const Result without = run(example, {});
    INFO(example << ": " << without.output);
    CHECK(without.status == 2);
    CHECK(contains(without.output, "usage: "));
    const Result wrong = run(example, {"localhost:port"});
    INFO(wrong.output);
    CHECK(wrong.status == 1);
    CHECK(contains(wrong.output, "localhost:port"));
  }
  const Result one_too_few = run(CUSTODIAN_EXAMPLE_MOVING_MAP, {"localhost:2181"});
  CHECK(one_too_few.status == 2);
  CHECK(contains(one_too_few.output, "usage: "));
  const Result wrong = run(CUSTODIAN_EXAMPLE_MOVING_MAP, {"localhost:port", "localhost:2181"});
  CHECK(wrong.status == 1);
  CHECK(contains(wrong.output, "localhost:port"));
}

}  // namespace custodian::tests::programs_test
