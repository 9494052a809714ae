/// \file
/// A lock that is lost while the command runs.

#include <csignal>

#include "cli/cli_process.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/testing/testing_server.hpp"
#include "guardian/descendants.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::loss_test {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

Words lock_words(const std::string& servers, const std::string& path, const Words& options,
                 const std::string& script) {
  Words words{"--servers", servers, "--session-timeout", "5s", "lock", path};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", "sh", "-c", script});
  return words;
}

/// A script that reports when it has begun and when it is asked to end, and then ends.
const std::string obedient =
    "trap 'echo asked; exit 0' TERM; echo inside; while :; do sleep 0.02; done";
const std::string stubborn = "trap 'echo asked' TERM; echo inside; while :; do sleep 0.02; done";

}  // namespace

TEST_CASE("commands whose server is silent for too long are ended as they should be") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::TestingServer server;
  const Directory directory;
  const std::string patient =
      "echo inside; while [ ! -e " + directory.file("go") + " ]; do sleep 0.02; done; exit 4";
  const auto words = [&](const std::string& path, const Words& options, const std::string& script) {
    return lock_words(server.connect_string(), path, options, script);
  };
  CliProcess asked{CUSTODIAN_CLI, words("/asked", {}, obedient)};
  CliProcess killed_late{CUSTODIAN_CLI, words("/killed-late", {}, stubborn)};
  CliProcess killed{CUSTODIAN_CLI, words("/killed", {"--on-lost", "kill"}, obedient)};
  CliProcess ignoring{CUSTODIAN_CLI, words("/ignoring", {"--on-lost", "ignore"}, patient)};
  for (const CliProcess* cli : {&asked, &killed_late, &killed, &ignoring}) {
    REQUIRE(cli->says("inside"));
  }
  server.pause();
  const Ended ended = asked.end();
  INFO(ended.err);
  CHECK(ended.status == 70);
  // The script has 0.4 s to report the request to end, so its line may be missing on a busy
  // machine.
  CHECK(ended.out.starts_with("inside\n"));
  CHECK(contains(ended.err, "custodian: /asked is lost"));
  const Ended late = killed_late.end();
  CHECK(late.status == 70);
  CHECK(late.out.starts_with("inside\n"));
  const Ended at_once = killed.end();
  CHECK(at_once.status == 70);
  CHECK(at_once.out == "inside\n");
  REQUIRE(ignoring.says("/ignoring is lost"));
  CHECK_FALSE(ignoring.has_ended());
  create(directory.file("go"));
  CHECK(ignoring.end().status == 4);
  server.resume();
}

TEST_CASE("a runner that is stopped itself does not let the command outlive the lock") {
  TestClient client{"stopped"};
  Words words = lock_words(connect_string(), "/lock", {}, "echo $$.; while :; do sleep 0.02; done");
  words.insert(words.begin(), {"--namespace", client.root()});
  CliProcess cli{CUSTODIAN_CLI, words};
  REQUIRE(cli.prints("."));
  const pid_t command = std::stoi(cli.out());
  InterProcessMutex mutex{*client, "/lock"};
  cli.signal(SIGSTOP);
  const Lease lease = mutex.acquire();
  // The command had ended before another client could acquire the lock.
  CHECK_FALSE(is_running(command));
  cli.signal(SIGCONT);
  const Ended ended = cli.end();
  INFO(ended.err);
  CHECK(ended.status == 70);
}

TEST_CASE("a command that holds for longer than it may is ended, before the next one gets in") {
  TestClient client{"hold-at-most"};
  const Directory directory;
  Words words = lock_words(connect_string(), "/lock", {"--hold-at-most", "700ms"},
                           "trap '' TERM; echo $$.; while :; do sleep 0.02; done");
  words.insert(words.begin(), {"--namespace", client.root()});
  CliProcess cli{CUSTODIAN_CLI, words};
  REQUIRE(cli.prints("."));
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
  Words words = lock_words(connect_string(), "/lock", {}, obedient);
  // A long session leaves some seconds between the request to end and the kill.
  words[3] = "60s";
  words.insert(words.begin(), {"--namespace", client.root()});
  CliProcess cli{CUSTODIAN_CLI, words};
  REQUIRE(cli.says("inside"));
  for (const std::string& name : names_below(*client, "/lock")) client->remove("/lock/" + name);
  const Ended ended = cli.end();
  CHECK(ended.status == 70);
  CHECK(ended.out == "inside\nasked\n");
}

}  // namespace custodian::tests::loss_test
