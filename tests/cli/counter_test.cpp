// custodian counter, beside clients of the test's.

#include "cli/look.hpp"
#include "custodian/atomics/distributed_atomic_long.hpp"
#include "custodian/shared/shared_count.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "support/test_client.hpp"
#include "support/test_servers.hpp"

namespace custodian::tests::counter_test {
namespace {

TEST_CASE("counter reads a number, adds to it, and sets it") {
  TestClient test{"counter-command"};
  DistributedAtomicLong number{*test, "/orders"};
  const auto counter = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"counter", "/orders"});
    return look(test, std::move(words));
  };
  CHECK(counter({"get"}).output == "0\n");
  CHECK_FALSE(test->exists("/orders"));
  CHECK(counter({"add", "5"}).output == "5\n");
  CHECK(counter({"add", "-7"}).output == "-2\n");
  CHECK(++number == -1);
  CHECK(counter({"get"}).output == "-1\n");
  const Result set = counter({"set", "9223372036854775807"});
  CHECK(set.status == 0);
  CHECK(set.output.empty());
  CHECK(number.load().value == 9223372036854775807);
  CHECK(eventually([&] { return test->children("/orders").names.empty(); }));
}

TEST_CASE("counter uses a number of four bytes, as a shared count") {
  TestClient test{"counter-integer"};
  SharedCount count{*test, "/count", 3};
  CHECK(count.load().value == 3);
  CHECK(look(test, {"counter", "/count", "add", "1", "--integer"}).output == "4\n");
  CHECK(count.load().value == 4);
  const Result wrong = look(test, {"counter", "/count", "add", "1"});
  CHECK(wrong.status == 1);
  CHECK(count.load().value == 4);
  CHECK(look(test, {"counter", "/count", "set", "2147483648", "--integer"}).status == 64);
}

TEST_CASE("counter counts an addition once whose reply is lost") {
  const Server server;
  for (int replies = 1; replies <= 6; ++replies) {
    testing::FaultProxy proxy{server.endpoint()};
    proxy.cut_after_replies(replies, testing::LastReply::is_lost);
    const Result added =
        run(CUSTODIAN_CLI, {"--servers", proxy.connect_string(), "counter", "/once", "add", "1"});
    INFO(added.output);
    CHECK(added.status == 0);
    CHECK(contains(added.output, std::to_string(replies) + "\n"));
  }
}

TEST_CASE("counter names a mistake in the command line, and servers that do not answer") {
  TestClient test{"counter-mistakes"};
  CHECK(look(test, {"counter", "/one"}).status == 64);
  CHECK(look(test, {"counter", "/one", "add"}).status == 64);
  CHECK(look(test, {"counter", "/one", "add", "many"}).status == 64);
  CHECK(look(test, {"counter", "/one", "add", "9223372036854775808"}).status == 64);
  CHECK(look(test, {"counter", "/one", "get", "1"}).status == 64);
  CHECK(look(test, {"counter", "/one", "subtract", "1"}).status == 64);
  CHECK(look(test, {"counter", "one", "get"}).status == 64);
  CHECK_FALSE(test->exists("/one"));
}

}  // namespace
}  // namespace custodian::tests::counter_test
