/// \file
/// `--hold-at-least`: the lock is held for a while, even if the command has ended before.

#include <csignal>

#include "cli/cli_process.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::hold_at_least_test {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

Words words_of(const TestClient& client, const Words& options, const std::string& script) {
  Words words{"-v", "--namespace", client.root(), "lock", "/lock"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", "sh", "-c", script});
  return words;
}

}  // namespace

TEST_CASE("hold-at-least: a command that ends early leaves the lock held, and keeps its status") {
  TestClient client{"hold-at-least"};
  const auto began = std::chrono::steady_clock::now();
  CliProcess cli{words_of(client, {"--hold-at-least", "3s"}, "echo ended.; exit 7")};
  REQUIRE(cli.says("ended."));
  const Ended other = run_cli(words_of(client, {"--no-wait"}, "echo ran"));
  const bool was_early = std::chrono::steady_clock::now() - began < 3s;
  // On a slow machine the other command may have come after the minimum time.
  if (was_early) CHECK(other.status == 75);
  CHECK(cli.end().status == 7);
  CHECK(std::chrono::steady_clock::now() - began >= 3s);
  CHECK(eventually([&] { return names_below(*client, "/lock").empty(); }));
}

TEST_CASE("hold-at-least: a command that takes longer is not waited for again") {
  TestClient client{"hold-at-least-long"};
  CHECK(run_cli(words_of(client, {"--hold-at-least", "10ms"}, "sleep 0.2; exit 3")).status == 3);
}

TEST_CASE("hold-at-least: a signal ends the wait at once, with the command's status") {
  for (const int signal : {SIGTERM, SIGINT}) {
    TestClient client{"hold-at-least-signal"};
    CliProcess cli{words_of(client, {"--hold-at-least", "1h"}, "exit 7")};
    REQUIRE(eventually([&] { return contains(cli.err(), "is held on"); }));
    cli.signal(signal);
    CHECK(cli.end().status == 7);
    CHECK(eventually([&] { return names_below(*client, "/lock").empty(); }));
  }
}

TEST_CASE("hold-at-least: a lock that is lost is not waited for") {
  TestClient client{"hold-at-least-lost"};
  const Words options{"--hold-at-least", "1h", "--session-timeout", "5s"};
  CliProcess cli{words_of(client, options, "exit 7")};
  REQUIRE(eventually([&] { return contains(cli.err(), "is held on"); }));
  for (const std::string& name : names_below(*client, "/lock")) client->remove("/lock/" + name);
  const Ended ended = cli.end();
  CHECK(ended.status == 7);
  CHECK(
      contains(ended.err, "is lost (somebody has deleted its node): the command has ended before"));
}

TEST_CASE("hold-at-least: a command that cannot be run leaves the lock to others at once") {
  TestClient client{"hold-at-least-missing"};
  CHECK(run_cli({"--namespace", client.root(), "lock", "/lock", "--hold-at-least", "1h", "--",
                 "custodian-has-no-such-command"})
            .status == 127);
}

TEST_CASE("hold-at-least: permits of a semaphore are held as long") {
  TestClient client{"hold-at-least-permits"};
  CliProcess cli{{"-v", "--namespace", client.root(), "semaphore", "/s", "--permits", "2",
                  "--hold-at-least", "1h", "--", "true"}};
  REQUIRE(eventually([&] { return contains(cli.err(), "is held on"); }));
  CHECK(names_below(*client, "/s/leases").size() == 1);
  cli.signal(SIGTERM);
  CHECK(cli.end().status == 0);
}

TEST_CASE("hold-at-least: a mistake in the command line ends with 64") {
  TestClient client{"hold-at-least-usage"};
  for (const Words& options : {Words{"--hold-at-least", "0s"}, Words{"--hold-at-least", "x"},
                               Words{"--hold-at-least", "2s", "--hold-at-most", "1s"}}) {
    CHECK(run_cli(words_of(client, options, "true")).status == 64);
  }
}

}  // namespace custodian::tests::hold_at_least_test
