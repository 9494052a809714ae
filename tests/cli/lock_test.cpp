/// \file
/// `custodian lock` as scripts use it: what it runs, when, and how it reports the outcome.

#include <csignal>
#include <fstream>
#include <memory>

#include "cli/cli_process.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "support/acquired.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::lock_test {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

/// The arguments for `lock /lock` below the client's root, followed by these words.
Words lock_words(const TestClient& client, const Words& words) {
  Words all{"--namespace", client.root(), "lock", "/lock"};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

bool is_free(TestClient& client) {
  return eventually([&] { return names_below(*client, "/lock").empty(); });
}

}  // namespace

TEST_CASE("the command gets its arguments exactly as they were given") {
  TestClient client{"arguments"};
  const Ended ended =
      run_cli(lock_words(client, {"--", "printf", "%s\\n", "[a,b]", "", "--", "-x", "'"}));
  INFO(ended.err);
  CHECK(ended.status == 0);
  CHECK(ended.out == "[a,b]\n\n--\n-x\n'\n");
  CHECK(is_free(client));
}

TEST_CASE("the command's environment tells the lock, its node and a token, while it is held") {
  TestClient client{"environment"};
  const std::string script =
      "echo $CUSTODIAN_LOCK_PATH $CUSTODIAN_LOCK_NODE $CUSTODIAN_FENCING_TOKEN.; sleep 1000";
  CliProcess cli{lock_words(client, {"--identity", "the script", "--", "sh", "-c", script})};
  REQUIRE(cli.says(".\n"));
  InterProcessMutex mutex{*client, "/lock"};
  const auto holders = mutex.participants();
  REQUIRE(holders.size() == 1);
  CHECK(holders[0].identity == "the script");
  CHECK(cli.out() == "/lock " + holders[0].node + " " + to_string(holders[0].token) + ".\n");
  cli.signal(SIGTERM);
  CHECK(cli.end().status == 128 + SIGTERM);
  CHECK(is_free(client));
}

TEST_CASE("the exit status is the command's own, or 128 and the signal that ended it") {
  TestClient client{"status"};
  CHECK(run_cli(lock_words(client, {"--", "sh", "-c", "exit 7"})).status == 7);
  CHECK(run_cli(lock_words(client, {"--", "sh", "-c", "kill -KILL $$"})).status == 137);
  CHECK(is_free(client));
}

TEST_CASE("a command that is not found, or cannot be run, is told as a shell does") {
  TestClient client{"not-run"};
  const Ended missing = run_cli(lock_words(client, {"--", "custodian-has-no-such-command"}));
  CHECK(missing.status == 127);
  CHECK(contains(missing.err, "custodian: cannot run custodian-has-no-such-command"));
  const Directory directory;
  std::ofstream{directory.file("plain")} << "echo hello\n";
  CHECK(run_cli(lock_words(client, {"--", directory.file("plain")})).status == 126);
  CHECK(is_free(client));
}

TEST_CASE("a mistake in the command line is told with 64, and what to do") {
  TestClient client{"usage"};
  for (const Words& words :
       {Words{}, Words{"--"}, Words{"--wait", "5", "--", "true"},
        Words{"--wait", "5s", "--no-wait", "--", "true"}, Words{"--kind", "best", "--", "true"},
        Words{"--hold-at-most", "0s", "--", "true"},
        Words{"--hold-at-most", "0.0000000001s", "--", "true"},
        Words{"--on-lost", "weep", "--", "true"}, Words{"--unheard-of", "--", "true"},
        Words{"true"}}) {
    const Ended ended = run_cli(lock_words(client, words));
    INFO((words.empty() ? "" : words.front()) << ": " << ended.err);
    CHECK(ended.status == 64);
    CHECK(ended.err.starts_with("custodian: "));
  }
  CHECK(contains(run_cli({"lock", "/lock", "true"}).err, "a command stands behind --"));
  const Ended relative = run_cli({"lock", "relative", "--", "true"});
  CHECK(relative.status == 64);
  CHECK(contains(relative.err, "PATH: it must begin with '/'"));
  CHECK(
      run_cli({"--session-timeout", "1s", "lock", client.root() + "/lock", "--", "true"}).status ==
      64);
  CHECK(CliProcess(CUSTODIAN_CLI, {"lock", "/lock", "--", "true"}).end().status == 64);
  CHECK(run_cli({}).status == 64);
  // An error message shows the argument, escaped so that it cannot control the terminal.
  for (const Words& words : {Words{"l\x1b[2Jock"}, Words{"lock", "/lock", "--\x1b[2J"},
                             Words{"lock", "/lock", "--wait", "1\x1b[2J", "--", "true"},
                             Words{"semaphore", "/s", "--permits", "\x1b[2J", "--", "true"}}) {
    const Ended ended = run_cli(words);
    CHECK(ended.status == 64);
    CHECK_FALSE(contains(ended.err, "\x1b[2J"));
    CHECK(contains(ended.err, R"(\x1b[2J)"));
    CHECK_FALSE(contains(ended.err, R"(\\)"));
  }
}

TEST_CASE("options of all commands stand before the command's name or behind it") {
  TestClient client{"global"};
  CHECK(run_cli({"lock", "/lock", "--namespace", client.root(), "--auth", "digest:a:b", "--auth",
                 "digest:c:d", "-v", "--", "true"})
            .status == 0);
}

TEST_CASE("help is for those who have never seen it") {
  for (const Words& words : {Words{"--help"}, Words{"lock", "--help"}, Words{"semaphore", "-h"}}) {
    const Ended ended = CliProcess(CUSTODIAN_CLI, words).end();
    CHECK(ended.status == 0);
    CHECK(contains(ended.out, "--servers"));
    CHECK(ended.err.empty());
  }
  CHECK(contains(CliProcess(CUSTODIAN_CLI, {"lock", "--help"}).end().out, "Example:"));
}

TEST_CASE("a lock that somebody else holds is told with 75, and who it is") {
  TestClient client{"busy"};
  InterProcessMutex mutex{*client, "/lock", {.identity = "the holder"}};
  const Lease lease = mutex.acquire();
  for (const Words& wait : {Words{"--no-wait"}, Words{"--wait", "0s"}, Words{"--wait", "3s"}}) {
    Words words = wait;
    words.insert(words.end(), {"--", "echo", "ran"});
    const Ended ended = run_cli(lock_words(client, words));
    INFO(ended.err);
    CHECK(ended.status == 75);
    CHECK(contains(ended.err, "the holder"));
    CHECK(ended.out.empty());
  }
  CHECK(eventually([&] { return names_below(*client, "/lock").size() == 1; }));
}

TEST_CASE("a lock that is free is had by who does not want to wait") {
  TestClient client{"free"};
  CHECK(run_cli(lock_words(client, {"--no-wait", "--", "echo", "ran"})).out == "ran\n");
  CHECK(run_cli(lock_words(client, {"--wait", "0s", "--", "echo", "ran"})).out == "ran\n");
  CHECK(is_free(client));
}

TEST_CASE("who is ahead is shown with -v, and cannot command the terminal") {
  TestClient client{"hostile"};
  InterProcessMutex mutex{*client, "/lock", {.identity = "\x1b[2Jthe holder"}};
  const Lease lease = mutex.acquire();
  CliProcess cli{lock_words(client, {"-v", "--", "echo", "ran"})};
  REQUIRE(cli.says("the holder"));
  CHECK(contains(cli.err(), "the nearest is \\x1b[2Jthe holder"));
  cli.signal(SIGTERM);
  CHECK(cli.end().status == 128 + SIGTERM);
}

TEST_CASE("servers that do not answer are told with 69") {
  const Ended ended = CliProcess(CUSTODIAN_CLI, {"--servers", "127.0.0.1:1", "lock", "/lock",
                                                 "--wait", "300ms", "--", "echo", "ran"})
                          .end();
  CHECK(ended.status == 69);
  CHECK(contains(ended.err, "custodian: no server answered"));
  CHECK(ended.out.empty());
}

TEST_CASE("ten at once around a script that is not safe to run twice") {
  TestClient client{"ten"};
  const Directory directory;
  std::ofstream{directory.file("count")} << "0\n";
  const std::string script = "cd " + directory.file("") +
                             " && mkdir inside && n=$(cat count) && sleep 0.05 &&"
                             " echo $((n+1)) > count && rmdir inside";
  std::vector<std::unique_ptr<CliProcess>> all;
  for (int i = 0; i < 10; ++i) {
    all.push_back(std::make_unique<CliProcess>(lock_words(client, {"--", "sh", "-c", script})));
  }
  for (const auto& one : all) {
    const Ended ended = one->end();
    INFO(ended.err);
    CHECK(ended.status == 0);
  }
  CHECK(content_of(directory.file("count")) == "10\n");
  CHECK(is_free(client));
}

TEST_CASE("a signal while it waits ends the wait and leaves no node") {
  TestClient client{"waiting"};
  InterProcessMutex mutex{*client, "/lock"};
  const Lease lease = mutex.acquire();
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1}) {
    CliProcess cli{lock_words(client, {"--", "echo", "ran"})};
    REQUIRE(eventually([&] { return mutex.participants().size() == 2; }));
    cli.signal(signal);
    const Ended ended = cli.end();
    INFO(ended.err);
    CHECK(ended.status == 128 + signal);
    CHECK(ended.out.empty());
    CHECK(eventually([&] { return mutex.participants().size() == 1; }));
  }
}

TEST_CASE("a signal that was ignored when it was started stays so") {
  TestClient client{"nohup"};
  const Directory directory;
  CliProcess cli{
      "sh",
      {"-c", "trap '' HUP; exec " CUSTODIAN_CLI " --servers " + connect_string() + " --namespace " +
                 client.root() + " lock /lock -- sh -c 'echo inside; while [ ! -e " +
                 directory.file("go") + " ]; do sleep 0.02; done; exit 5'"}};
  REQUIRE(cli.says("inside"));
  cli.signal(SIGHUP);
  create(directory.file("go"));
  CHECK(cli.end().status == 5);
}

TEST_CASE("a signal while it holds is the command's, and the lock is kept until that has ended") {
  TestClient client{"holding"};
  const Directory directory;
  CliProcess cli{lock_words(client, {"--", "sh", "-c",
                                     "trap 'echo asked; while [ ! -e " + directory.file("go") +
                                         " ]; do sleep 0.02; done; exit 9' TERM\n"
                                         "echo inside; while :; do sleep 0.02; done"})};
  REQUIRE(cli.says("inside"));
  cli.signal(SIGTERM);
  REQUIRE(cli.says("asked"));
  InterProcessMutex mutex{*client, "/lock"};
  // participants() waits until the client is connected, which try_acquire() would not do.
  CHECK(mutex.participants().size() == 1);
  CHECK_FALSE(acquired(mutex.try_acquire()));
  create(directory.file("go"));
  CHECK(cli.end().status == 9);
  CHECK(is_free(client));
}

TEST_CASE("two readers are in at once, and no writer with them") {
  TestClient client{"readers"};
  CliProcess one{lock_words(client, {"--kind", "read", "--", "sh", "-c", "echo in; sleep 1000"})};
  CliProcess two{lock_words(client, {"--kind", "read", "--", "sh", "-c", "echo in; sleep 1000"})};
  REQUIRE(one.says("in"));
  REQUIRE(two.says("in"));
  CHECK(run_cli(lock_words(client, {"--kind", "write", "--no-wait", "--", "true"})).status == 75);
  one.signal(SIGTERM);
  two.signal(SIGTERM);
  CHECK(one.end().status == 143);
  CHECK(two.end().status == 143);
  CHECK(run_cli(lock_words(client, {"--kind", "write", "--", "true"})).status == 0);
}

TEST_CASE("the names on the servers are kazoo's, or a semaphore's, if asked for") {
  TestClient client{"names"};
  const Words print{"--", "sh", "-c", "echo $CUSTODIAN_LOCK_NODE"};
  Words kazoo = lock_words(client, {"--profile", "kazoo"});
  kazoo.insert(kazoo.end(), print.begin(), print.end());
  CHECK(contains(run_cli(kazoo).out, "__lock__"));
  Words semaphore{"--namespace", client.root(), "lock", "/semaphore", "--kind", "semaphore-mutex"};
  semaphore.insert(semaphore.end(), print.begin(), print.end());
  CHECK(contains(run_cli(semaphore).out, "/semaphore/leases/"));
}

TEST_CASE("so many are in as a semaphore has permits") {
  TestClient client{"semaphore"};
  const auto words = [&](Words more) {
    Words all{"--namespace", client.root(), "semaphore", "/permits", "--permits", "3"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  CliProcess two{words({"--take", "2", "--", "sh", "-c", "echo in; sleep 1000"})};
  REQUIRE(two.says("in"));
  CHECK(run_cli(words({"--", "true"})).status == 0);
  CliProcess third{words({"--", "sh", "-c", "echo in; sleep 1000"})};
  REQUIRE(third.says("in"));
  CHECK(run_cli(words({"--no-wait", "--", "true"})).status == 75);
  CHECK(run_cli(words({"--take", "4", "--", "true"})).status == 64);
  third.signal(SIGTERM);
  CHECK(third.end().status == 143);
  two.signal(SIGTERM);
  CHECK(two.end().status == 143);
  InterProcessSemaphore semaphore{*client, "/permits", 3};
  CHECK(eventually([&] { return semaphore.participants().empty(); }));
}

}  // namespace custodian::tests::lock_test
