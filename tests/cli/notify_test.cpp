// `--notify-systemd`: the news of a lock, of an election and of a group for a unit of Type=notify.

#include <algorithm>
#include <csignal>

#include "cli/cli_process.hpp"
#include "custodian/leader/leader_latch.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "support/notify_socket.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::notify_test {
namespace {

using Words = std::vector<std::string>;

/// systemd, with a service that runs the custodian command below a root of the test's own.
class Unit {
 public:
  Unit(const TestClient& client, const Words& words, const Words& variables = {},
       const std::string& address = {})
      : manager_{address.empty() ? NotifySocket{} : NotifySocket{address}},
        cli_{"env", all(client, words, variables)} {}

  /// Reads until a datagram has this line.
  [[nodiscard]] bool hears(const std::string& line) {
    return eventually([&] {
      while (const auto next = manager_.next()) {
        heard_.push_back("\n" + *next + "\n");
        if (contains(heard_.back(), "\n" + line + "\n")) return true;
      }
      return false;
    });
  }
  [[nodiscard]] bool heard(const std::string& line) const {
    return std::ranges::any_of(
        heard_, [&](const std::string& each) { return contains(each, "\n" + line + "\n"); });
  }
  CliProcess& cli() { return cli_; }

 private:
  Words all(const TestClient& client, const Words& words, const Words& variables) {
    Words all{"NOTIFY_SOCKET=" + manager_.address()};
    all.insert(all.end(), variables.begin(), variables.end());
    all.insert(all.end(),
               {CUSTODIAN_CLI, "--servers", connect_string(), "--namespace", client.root()});
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }

  NotifySocket manager_;
  CliProcess cli_;
  std::vector<std::string> heard_;
};

const Words then_wait{"--notify-systemd", "--", "sh", "-c",
                      "echo ${NOTIFY_SOCKET-none} ${WATCHDOG_USEC-none}.; sleep 1000"};

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("a service that waits for a lock has time, and is ready when it has it") {
  TestClient client{"notify-lock"};
  InterProcessMutex mutex{*client, "/lock"};
  Lease held = mutex.acquire();
  Unit unit{client, with({"lock", "/lock"}, then_wait)};
  REQUIRE(unit.hears("STATUS=waits for /lock"));
  CHECK(unit.heard("EXTEND_TIMEOUT_USEC=60000000"));
  REQUIRE(unit.hears("STATUS=waits for /lock: 1 ahead; the nearest is " + client->identity()));
  CHECK_FALSE(unit.heard("READY=1"));
  held.release();
  REQUIRE(unit.hears("READY=1"));
  const std::string node = "/lock/" + names_below(*client, "/lock").at(0);
  CHECK(unit.heard("STATUS=holds /lock, as " + node));
  // The command cannot speak for the unit.
  REQUIRE(unit.cli().prints("."));
  CHECK(unit.cli().out() == "none none.\n");
  unit.cli().signal(SIGTERM);
  CHECK(unit.hears("STOPPING=1"));
  CHECK(unit.cli().end().status == 128 + SIGTERM);
}

TEST_CASE("the loss of a lock is in the status of its service") {
  TestClient client{"notify-loss"};
  Unit unit{client, with({"lock", "/lock"}, then_wait)};
  REQUIRE(unit.hears("READY=1"));
  client->remove("/lock/" + names_below(*client, "/lock").at(0));
  CHECK(unit.hears("STATUS=/lock is lost (somebody has deleted its node): the command is ended"));
  CHECK(unit.hears("STOPPING=1"));
  CHECK(unit.cli().end().status == 70);
}

TEST_CASE("a service that gives up its wait says that it stops, and was never ready") {
  TestClient client{"notify-give-up"};
  InterProcessMutex mutex{*client, "/lock"};
  const Lease held = mutex.acquire();
  Unit unit{client, with({"lock", "/lock"}, then_wait)};
  REQUIRE(unit.hears("STATUS=waits for /lock"));
  unit.cli().signal(SIGTERM);
  CHECK(unit.hears("STOPPING=1"));
  CHECK(unit.cli().end().status == 128 + SIGTERM);
  CHECK_FALSE(unit.heard("READY=1"));
}

TEST_CASE("a candidate is ready before it leads, and its status tells the leader from the others") {
  TestClient client{"notify-elect"};
  LeaderLatch latch{*client, "/leader"};
  latch.start();
  Lease leadership = latch.wait();
  Unit unit{client, with({"elect", "/leader"}, then_wait)};
  REQUIRE(unit.hears("READY=1"));
  CHECK(unit.heard("STATUS=stands for election at /leader"));
  leadership.release();
  latch.close();
  CHECK(eventually([&] { return contains(unit.cli().out(), "."); }));
  CHECK(unit.hears("STATUS=leads /leader, as /leader/" + names_below(*client, "/leader").at(0)));
  unit.cli().signal(SIGTERM);
  CHECK(unit.cli().end().status == 128 + SIGTERM);
}

TEST_CASE("a permit and a membership make a service ready, as a lock does") {
  TestClient client{"notify-others"};
  Unit permit{client, with({"semaphore", "/permits", "--permits", "2"}, then_wait)};
  CHECK(permit.hears("READY=1"));
  Unit member{client, with({"member", "/fleet", "--id", "a"}, then_wait)};
  CHECK(member.hears("READY=1"));
  CHECK(member.heard("STATUS=is a member of /fleet, as /fleet/a"));
}

TEST_CASE("a watchdog hears of a service while it waits, and while it holds") {
  TestClient client{"notify-watchdog"};
  InterProcessMutex mutex{*client, "/lock"};
  Lease held = mutex.acquire();
  Unit unit{client, with({"lock", "/lock"}, then_wait), {"WATCHDOG_USEC=90000"}};
  REQUIRE(unit.hears("STATUS=waits for /lock"));
  CHECK(unit.hears("WATCHDOG=1"));
  held.release();
  REQUIRE(unit.hears("READY=1"));
  CHECK(unit.hears("WATCHDOG=1"));
  CHECK(unit.hears("WATCHDOG=1"));
}

TEST_CASE("a manager's socket may be a file, and need not be there") {
  TestClient client{"notify-file"};
  const Directory directory;
  {
    Unit unit{client, with({"lock", "/lock"}, then_wait), {}, directory.file("notify")};
    CHECK(unit.hears("READY=1"));
  }
  const Words here{"NOTIFY_SOCKET=" + directory.file("none"),
                   CUSTODIAN_CLI,
                   "--servers",
                   connect_string(),
                   "--namespace",
                   client.root(),
                   "lock",
                   "/other",
                   "--notify-systemd",
                   "--",
                   "true"};
  const Ended ended = CliProcess{"env", here}.end();
  CHECK(ended.status == 0);
  CHECK(contains(ended.err, "custodian: systemd cannot be notified at its NOTIFY_SOCKET: "));
}

TEST_CASE("without the option the command inherits what systemd has said") {
  TestClient client{"notify-not"};
  Unit unit{client, {"lock", "/lock", "--", "sh", "-c", "echo $NOTIFY_SOCKET."}};
  CHECK(unit.cli().end().out.starts_with("@custodian-test-"));
}

}  // namespace custodian::tests::notify_test
