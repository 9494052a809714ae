/// \file
/// A guardian that acts late because it was stopped itself, and a guardian whose runner fails.

#include <csignal>

#include "cli/cli_process.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "guardian/descendants.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::late_guardian_test {
namespace {

using namespace std::chrono_literals;

using Words = std::vector<std::string>;

CliProcess lock_under(const TestClient& client, const Words& command, const Words& options = {}) {
  Words words{"--namespace", client.root(), "--session-timeout", "5s", "lock", "/lock"};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return CliProcess{words};
}

pid_t guardian_of(const CliProcess& runner) {
  pid_t guardian = 0;
  const bool is_there = eventually([&] {
    const auto family = cli::descendants(runner.id());
    if (family.empty()) return false;
    guardian = family.front().process;
    return content_of("/proc/" + std::to_string(guardian) + "/comm") == "lock-guardian\n";
  });
  REQUIRE(is_there);
  return guardian;
}

/// Stops a process; the destructor continues it.
class Stopped {
 public:
  explicit Stopped(pid_t process) : process_{process} { ::kill(process_, SIGSTOP); }
  Stopped(const Stopped&) = delete;
  Stopped& operator=(const Stopped&) = delete;
  ~Stopped() { ::kill(process_, SIGCONT); }

 private:
  pid_t process_;
};

}  // namespace

TEST_CASE("a guardian that hears too late of what it is to run does not run it") {
  TestClient client{"late-start"};
  InterProcessMutex mutex{*client, "/lock"};
  Lease first = mutex.acquire();
  // The error for this command would show if the guardian looked for it.
  CliProcess cli = lock_under(client, {"custodian-has-no-such-command"}, {"--verbose"});
  REQUIRE(eventually([&] { return mutex.participants().size() == 2; }));
  {
    const Stopped guardian{guardian_of(cli)};
    first.release();
    // The runner logs this after it has sent its order to the guardian.
    REQUIRE(cli.says("running custodian-has-no-such-command"));
    const Stopped runner{cli.id()};
    const Lease second = mutex.acquire();
  }
  const Ended ended = cli.end();
  INFO(ended.err);
  CHECK(ended.status == 70);
}

TEST_CASE("a command that has ended by itself has its own status, though the lock was lost since") {
  TestClient client{"late-end"};
  const Directory directory;
  CliProcess cli = lock_under(client, {"sh", "-c",
                                       "echo $$.; while [ ! -e " + directory.file("go") +
                                           " ]; do sleep 0.02; done; exit 5"});
  REQUIRE(cli.prints("."));
  const pid_t command = std::stoi(cli.out());
  {
    const Stopped guardian{guardian_of(cli)};
    const Stopped runner{cli.id()};
    create(directory.file("go"));
    REQUIRE(eventually([&] { return !is_running(command); }));
    InterProcessMutex mutex{*client, "/lock"};
    const Lease lease = mutex.acquire();
  }
  const Ended ended = cli.end();
  INFO(ended.err);
  CHECK(ended.status == 5);
}

TEST_CASE("a runner in which something throws ends its command before the lock is released") {
  TestClient client{"throwing"};
  const Directory directory;
  CliProcess failing{CUSTODIAN_THROWING_RUNNER,
                     {connect_string(), client.root(), directory.file("go"), "sh", "-c",
                      "trap '' TERM; echo $$.; while :; do sleep 0.02; done"}};
  REQUIRE(failing.prints("."));
  const pid_t command = std::stoi(failing.out());
  InterProcessMutex mutex{*client, "/lock"};
  CliProcess next = lock_under(client, {"true"});
  REQUIRE(eventually([&] { return mutex.participants().size() == 2; }));
  {
    // While the guardian is stopped there is time to check.
    const Stopped guardian{guardian_of(failing)};
    create(directory.file("go"));
    CHECK_FALSE(eventually([&] { return next.has_ended(); }, 2s));
    CHECK(is_running(command));
  }
  CHECK(next.end().status == 0);
  CHECK_FALSE(is_running(command));
  const Ended ended = failing.end();
  CHECK(ended.status == 1);
  CHECK(contains(ended.err, "thrown"));
}

}  // namespace custodian::tests::late_guardian_test
