// custodian inspect, against a real server.

#include <nlohmann/json.hpp>
#include <thread>

#include "cli/look.hpp"
#include "cli/terminal_process.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::inspect_test {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

std::string id_of(Client& client) {
  std::ostringstream text;
  text << "0x" << std::hex << client.session().id;
  return text.str();
}

/// Waits for a lock, in a thread of its own, until this object is destroyed.
class Waiter {
 public:
  template <typename Lock>
  Waiter(TestClient& test, Lock& lock, std::size_t others)
      : thread_{[&lock](std::stop_token stop) {
          (void)error_of([&] { (void)lock.acquire(std::move(stop)); });
        }} {
    REQUIRE(eventually([&] { return names_below(*test, lock.path()).size() > others; }));
  }

 private:
  std::jthread thread_;
};

TEST_CASE("inspect shows who holds a mutex and who waits, in order") {
  TestClient test{"inspect-mutex"};
  InterProcessMutex held{*test, "/lock", {.identity = "holder"}};
  InterProcessMutex waited_for{*test, "/lock", {.identity = "waiter"}};
  const Lease lease = held.acquire();
  const Waiter waiter{test, waited_for, 1};

  const Json seen = look_json(test, {"inspect", "/lock"});
  REQUIRE(seen["queue"].size() == 2);
  const Json& first = seen["queue"][0];
  CHECK(first["position"] == 1);
  CHECK(first["state"] == "holds");
  CHECK(first["kind"] == "mutex");
  CHECK(first["identity"] == "holder");
  CHECK(first["session"] == id_of(*test));
  CHECK(first["token"] == to_string(lease.token()));
  CHECK(first["node"] == lease.node());
  CHECK(first["since"].get<std::string>().starts_with("20"));
  CHECK(seen["queue"][1]["position"] == 2);
  CHECK(seen["queue"][1]["state"] == "waits");
  CHECK(seen["queue"][1]["ahead"] == 1);
  CHECK(seen["queue"][1]["identity"] == "waiter");
  if (!servers_are_foreign()) {
    CHECK(first["address"].get<std::string>().starts_with("127.0.0.1:"));
  }

  const Result text = look(test, {"inspect", "/lock"});
  INFO(text.output);
  CHECK(text.status == 0);
  CHECK(contains(text.output, "holds  mutex  holder"));
  CHECK(contains(text.output, "waits  mutex  waiter"));
}

TEST_CASE("inspect says nobody of a path that is missing or empty, and that is an answer") {
  TestClient test{"inspect-nobody"};
  test->create("/empty", {}, {.parents = Parents::created_as_containers});
  for (const char* path : {"/missing/path", "/empty", "/"}) {
    INFO(path);
    const Result text = look(test, {"inspect", path});
    CHECK(text.status == 0);
    CHECK(look_json(test, {"inspect", path})["queue"].empty());
  }
  CHECK(contains(look(test, {"inspect", "/missing"}).output, "nobody holds or waits at /missing"));
}

TEST_CASE("inspect shows readers who hold beside each other, and the writer behind them") {
  TestClient test{"inspect-readers"};
  InterProcessReadWriteLock lock{*test, "/lock"};
  const Lease one = lock.read().acquire();
  const Lease two = lock.read().acquire();
  const Waiter writer{test, lock.write(), 2};
  const Json queue = look_json(test, {"inspect", "/lock"})["queue"];
  REQUIRE(queue.size() == 3);
  CHECK((queue[0]["kind"] == "read" && queue[0]["state"] == "holds"));
  CHECK((queue[1]["kind"] == "read" && queue[1]["state"] == "holds"));
  CHECK((queue[2]["kind"] == "write" && queue[2]["state"] == "waits" && queue[2]["ahead"] == 2));
}

TEST_CASE("inspect shows a semaphore's permits and its line, and with --permits who is in") {
  TestClient test{"inspect-semaphore"};
  Client waiting{[&] {
    ClientOptions options = options_for(connect_string());
    options.name_space = test.root();
    return options;
  }()};
  InterProcessSemaphore semaphore{*test, "/licences", 2, {.identity = "holder"}};
  InterProcessSemaphore same{waiting, "/licences", 2, {.identity = "waiter"}};
  const auto held = semaphore.acquire(2);
  std::jthread waiter{
      [&](std::stop_token stop) { (void)error_of([&] { (void)same.acquire(std::move(stop)); }); }};
  REQUIRE(eventually([&] { return names_below(*test, "/licences/leases").size() == 3; }));

  const Json queue = look_json(test, {"inspect", "/licences"})["queue"];
  REQUIRE(queue.size() == 4);
  CHECK((queue[0]["kind"] == "permit" && queue[0]["state"] == "holds"));
  CHECK((queue[1]["kind"] == "permit" && queue[1]["identity"] == "holder"));
  CHECK((queue[2]["kind"] == "permit" && queue[2]["state"] == "unclear"));
  CHECK((queue[3]["kind"] == "turn" && queue[3]["state"] == "waits"));
  CHECK(queue[3]["position"] == 1);
  const Json known = look_json(test, {"inspect", "/licences", "--permits", "2"})["queue"];
  REQUIRE(known.size() == 4);
  CHECK(known[1]["state"] == "holds");
  CHECK((known[2]["state"] == "waits" && known[2]["ahead"] == 1));
}

TEST_CASE("inspect names what is malformed or foreign, and escapes what nodes contain") {
  TestClient test{"inspect-odd"};
  const CreateOptions options{.parents = Parents::created_as_containers};
  test->create("/lock/lock-abc", {}, options);
  test->create("/lock/notes", {}, options);
  test->create("/lock/lock-0000000001", "\x1b[2J\xff", options);
  const Json seen = look_json(test, {"inspect", "/lock"});
  CHECK(seen["malformed"] == Json{"/lock/lock-abc"});
  CHECK(seen["foreign"] == Json{"/lock/notes"});
  REQUIRE(seen["queue"].size() == 1);
  CHECK(seen["queue"][0]["state"] == "unclear");
  CHECK(seen["queue"][0]["identity_hex"] == "1b5b324aff");
  const Result text = look(test, {"inspect", "/lock"});
  CHECK_FALSE(contains(text.output, "\x1b"));
  CHECK(contains(text.output, "\\x1b[2J\\xff"));
  CHECK(contains(text.output, "stops the queue; remove it: /lock/lock-abc"));
  CHECK(contains(text.output, "takes no part: /lock/notes"));
}

TEST_CASE("inspect refuses what is no path, and says when no server answers") {
  TestClient test{"inspect-wrong"};
  CHECK(look(test, {"inspect", "lock"}).status == 64);
  CHECK(look(test, {"inspect"}).status == 64);
  CHECK(look(test, {"inspect", "/lock", "--permits", "some"}).status == 64);
  const Result away = run(CUSTODIAN_CLI, {"--servers", "127.0.0.1:1", "inspect", "/lock"});
  INFO(away.output);
  CHECK(away.status == 69);
  CHECK(contains(away.output, "no server answered in time"));
}

TEST_CASE("inspect --watch prints a block for each change, and ends well when it is asked to") {
  TestClient test{"watch-blocks"};
  InterProcessMutex mutex{*test, "/lock", {.identity = "holder"}};
  Program watch{CUSTODIAN_CLI, words_for(test, {"inspect", "/lock", "--watch"})};
  REQUIRE(watch.says("nobody holds or waits at /lock"));
  {
    const Lease lease = mutex.acquire();
    REQUIRE(watch.says("holds  mutex  holder"));
  }
  REQUIRE(watch.says("nobody holds or waits at /lock"));
  watch.signal(SIGTERM);
  const Result result = watch.result();
  INFO(result.output);
  CHECK(result.status == 0);
  CHECK_FALSE(contains(result.output, "\x1b"));
  // A block has a heading and lines; an empty line separates two blocks.
  CHECK(contains(result.output, "\n\n/lock  20"));
}

TEST_CASE("inspect --watch --json prints a line for each change, a request to let go included") {
  TestClient test{"watch-json"};
  InterProcessMutex mutex{*test, "/lock", {.identity = "holder"}};
  const Lease lease = mutex.acquire();
  Program watch{CUSTODIAN_CLI, words_for(test, {"inspect", "/lock", "--watch", "--json"})};
  REQUIRE(watch.says(R"("identity":"holder")"));
  REQUIRE(look(test, {"revoke", "/lock"}).status == 0);
  // The holder does not listen, so the message stays in place of its identity, which a new
  // inspection cannot show.
  REQUIRE(watch.says(R"("asked_to_let_go":true)"));
  CHECK(look_json(test, {"inspect", "/lock"})["queue"][0]["identity"] == "");
  watch.signal(SIGINT);
  const Result result = watch.result();
  INFO(result.output);
  CHECK(result.status == 0);
  for (std::istringstream lines{result.output}; lines;) {
    std::string line;
    if (!std::getline(lines, line)) continue;
    Json shown;
    REQUIRE_NOTHROW(shown = Json::parse(line));
    for (const Json& each : shown["queue"]) CHECK(each["identity"] == "holder");
  }
}

TEST_CASE("inspect --watch shows the address of who has come since the servers were asked, too") {
  if (servers_are_foreign()) CUSTODIAN_SKIP("needs a server that tells addresses");
  TestClient test{"watch-addresses"};
  InterProcessMutex held{*test, "/lock", {.identity = "holder"}};
  const Lease lease = held.acquire();
  Program watch{CUSTODIAN_CLI, words_for(test, {"inspect", "/lock", "--watch"})};
  REQUIRE(watch.says(id_of(*test) + "  127.0.0.1:"));
  // The new client comes less than a second after the servers were asked, so they are not asked
  // again at once.
  ClientOptions options = options_for(connect_string());
  options.name_space = test.root();
  Client coming{options};
  InterProcessMutex waited_for{coming, "/lock", {.identity = "waiter"}};
  const Waiter waiter{test, waited_for, 1};
  // Nothing changes in the queue from now on.
  CHECK(watch.says(id_of(coming) + "  127.0.0.1:"));
}

TEST_CASE("inspect --watch goes on through a disconnection, and says so meanwhile") {
  testing::TestingServer server;
  TestClient test{"watch-restart", server.connect_string(), 30s};
  InterProcessMutex mutex{*test, "/lock", {.identity = "holder"}};
  Lease lease = mutex.acquire();
  Program watch{CUSTODIAN_CLI, words_for(test, {"inspect", "/lock", "--watch", "--json"})};
  REQUIRE(watch.says(R"("connected":true)"));
  server.stop();
  REQUIRE(watch.says(R"("connected":false)"));
  server.start();
  REQUIRE(watch.says(R"("connected":true)"));
  lease.release();
  REQUIRE(watch.says(R"("queue":[])"));
  watch.signal(SIGTERM);
  CHECK(watch.result().status == 0);
}

TEST_CASE(
    "inspect --watch draws on a terminal in its place, within its size, and leaves it whole") {
  TestClient test{"watch-terminal"};
  InterProcessMutex mutex{*test, "/lock", {.identity = "holder"}};
  TerminalProcess watch{CUSTODIAN_CLI, words_for(test, {"inspect", "/lock", "--watch"}), {24, 60}};
  REQUIRE(watch.shows("nobody holds or waits"));
  const Lease lease = mutex.acquire();
  REQUIRE(watch.shows("\x1b[2A"));
  REQUIRE(watch.shows("holds  mutex  holder"));
  REQUIRE(watch.shows("…"));
  watch.resize({10, 200});
  REQUIRE(watch.shows("\x1b[H\x1b[2J"));
  REQUIRE(watch.shows("_c_"));
  watch.type(ctrl_c);
  CHECK(watch.status() == 0);
  // Removes the command's own escape sequences: back to the first line, clear to the end of the
  // line, clear to the end of the screen.
  std::string rest = watch.screen();
  for (const char* command : {"\x1b[K", "\x1b[J", "\x1b[H\x1b[2J"}) {
    for (auto at = rest.find(command); at != std::string::npos; at = rest.find(command)) {
      rest.erase(at, std::string_view{command}.size());
    }
  }
  for (auto at = rest.find('\x1b'); at != std::string::npos; at = rest.find('\x1b', at + 1)) {
    const auto end = rest.find_first_not_of("0123456789", at + 2);
    REQUIRE(end != std::string::npos);
    CHECK((rest[at + 1] == '[' && rest[end] == 'A'));
  }
}

TEST_CASE("inspect says that a path does not exist, or which locks are right below it") {
  TestClient test{"inspect-around"};
  const Json missing = look_json(test, {"inspect", "/inventory"});
  CHECK(missing["exists"] == false);
  CHECK(contains(look(test, {"inspect", "/inventory"}).output, "the path does not exist"));

  InterProcessMutex hot{*test, "/inventory/hot"};
  InterProcessMutex waited_for{*test, "/inventory/hot"};
  InterProcessSemaphore licences{*test, "/inventory/licences", 2};
  const Lease lease = hot.acquire();
  const Waiter waiter{test, waited_for, 1};
  const Lease licence = licences.acquire();
  test->create("/inventory/notes", "precious");
  ClientOptions owner_options = options_for(test.servers());
  owner_options.name_space = test.root();
  owner_options.credentials = {{"digest", "owner:secret"}};
  Client owner{owner_options};
  owner.create("/inventory/private", {}, {.acl = creator_all_acl()});
  const Json seen = look_json(test, {"inspect", "/inventory"});
  CHECK(seen["exists"] == true);
  CHECK(seen["data_length"] == 0);
  CHECK(seen["closed"] == Json{"/inventory/private"});
  CHECK(seen["not_looked_at"] == 0);
  REQUIRE(seen["below"].size() == 2);
  const auto& first =
      seen["below"][0]["path"] == "/inventory/hot" ? seen["below"][0] : seen["below"][1];
  CHECK(first["path"] == "/inventory/hot");
  CHECK(first["holding"] == 1);
  CHECK(first["waiting"] == 1);
  const Result result = look(test, {"inspect", "/inventory"});
  INFO(result.output);
  CHECK(contains(result.output, "a lock below: /inventory/hot (1 hold, 1 wait)"));
  CHECK(contains(result.output, "a lock below: /inventory/licences"));
  CHECK(contains(result.output, "takes no part: /inventory/notes"));
  CHECK_FALSE(contains(result.output, "takes no part: /inventory/hot"));
  // The output names a child that only other credentials may read, and hides no other child.
  CHECK(contains(result.output, "may not be looked at with these credentials: /inventory/private"));
  CHECK(look_json(test, {"inspect", "/inventory/notes"})["data_length"] == 8);
  CHECK(contains(look(test, {"inspect", "/inventory/notes"}).output,
                 "a value, or a barrier that is set: precious (8 bytes, version 0"));
  // A path with contenders is not searched for locks below.
  CHECK(look_json(test, {"inspect", "/inventory/hot"})["below"].empty());
  // The node is removed here, since the test's clean-up may not list it.
  owner.remove("/inventory/private");
}

}  // namespace
}  // namespace custodian::tests::inspect_test
