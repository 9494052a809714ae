/// \file
/// A lock that is lost while the command runs.

#include <csignal>
#include <fstream>

#include "cli/cli_process.hpp"
#include "custodian/recipes/inter_process_mutex.hpp"
#include "custodian/testing/testing_server.hpp"
#include "descendants.hpp"
#include "support/test_client.hpp"

namespace custodian::tests {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

Words lock_words(const std::string& servers, const Words& options, const std::string& script) {
  Words words{"--servers", servers, "--session-timeout", "5s", "lock", "/lock"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", "sh", "-c", script});
  return words;
}

/// Says that it is in, and when it is asked to end; and ends then.
const std::string obedient =
    "trap 'echo asked; exit 0' TERM; echo inside; while :; do sleep 0.02; done";
const std::string stubborn = "trap 'echo asked' TERM; echo inside; while :; do sleep 0.02; done";

}  // namespace

TEST_CASE("a command whose server is silent for too long is asked to end, and then killed") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::TestingServer server;
  CliProcess first{CUSTODIAN_CLI, lock_words(server.connect_string(), {}, obedient)};
  REQUIRE(first.says("inside"));
  server.pause();
  const Ended asked = first.end();
  INFO(asked.err);
  CHECK(asked.status == 70);
  CHECK(asked.out == "inside\nasked\n");
  CHECK(contains(asked.err, "custodian: /lock is lost"));
  server.resume();

  CliProcess second{CUSTODIAN_CLI, lock_words(server.connect_string(), {}, stubborn)};
  REQUIRE(second.says("inside"));
  server.pause();
  const Ended killed = second.end();
  CHECK(killed.status == 70);
  CHECK(killed.out == "inside\nasked\n");
  server.resume();
}

TEST_CASE("a command is killed for a loss, or left alone, if that is wanted") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::TestingServer server;
  const Directory directory;
  const std::string until_told =
      "echo inside; while [ ! -e " + directory.file("go") + " ]; do sleep 0.02; done; exit 4";
  CliProcess killed{CUSTODIAN_CLI,
                    lock_words(server.connect_string(), {"--on-lost", "kill"}, obedient)};
  REQUIRE(killed.says("inside"));
  Words other = lock_words(server.connect_string(), {"--on-lost", "ignore"}, until_told);
  other[5] = "/other";
  CliProcess ignoring{CUSTODIAN_CLI, other};
  REQUIRE(ignoring.says("inside"));
  server.pause();
  const Ended ended = killed.end();
  CHECK(ended.status == 70);
  CHECK(ended.out == "inside\n");
  REQUIRE(ignoring.says("/other is lost"));
  CHECK_FALSE(ignoring.has_ended());
  std::ofstream{directory.file("go")};
  CHECK(ignoring.end().status == 4);
  server.resume();
}

TEST_CASE("a runner that is stopped itself does not let the command outlive the lock") {
  TestClient client{"stopped"};
  Words words = lock_words(connect_string(), {}, "echo $$.; while :; do sleep 0.02; done");
  words.insert(words.begin(), {"--namespace", client.root()});
  CliProcess cli{CUSTODIAN_CLI, words};
  REQUIRE(cli.says("."));
  const pid_t command = std::stoi(cli.out());
  InterProcessMutex mutex{*client, "/lock"};
  cli.signal(SIGSTOP);
  const Lease lease = mutex.acquire();
  // It was gone before anybody else could get in.
  CHECK_FALSE(is_running(command));
  cli.signal(SIGCONT);
  const Ended ended = cli.end();
  INFO(ended.err);
  CHECK(ended.status == 70);
}

TEST_CASE("a command that holds for longer than it may is ended, before the next one gets in") {
  TestClient client{"hold-at-most"};
  const Directory directory;
  Words words = lock_words(connect_string(), {"--hold-at-most", "700ms"},
                           "trap '' TERM; echo $$.; while :; do sleep 0.02; done");
  words.insert(words.begin(), {"--namespace", client.root()});
  CliProcess cli{CUSTODIAN_CLI, words};
  REQUIRE(cli.says("."));
  const pid_t command = std::stoi(cli.out());
  InterProcessMutex mutex{*client, "/lock"};
  const Lease lease = mutex.acquire();
  CHECK_FALSE(is_running(command));
  const Ended ended = cli.end();
  CHECK(ended.status == 70);
  CHECK(contains(ended.err, "its maximum time is up"));
}

TEST_CASE("a command whose node an operator deletes is ended") {
  TestClient client{"deleted"};
  Words words = lock_words(connect_string(), {}, obedient);
  words.insert(words.begin(), {"--namespace", client.root()});
  CliProcess cli{CUSTODIAN_CLI, words};
  REQUIRE(cli.says("inside"));
  for (const std::string& name : names_below(*client, "/lock")) client->remove("/lock/" + name);
  const Ended ended = cli.end();
  CHECK(ended.status == 70);
  CHECK(ended.out == "inside\nasked\n");
}

}  // namespace custodian::tests
