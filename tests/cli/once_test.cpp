/// \file
/// `custodian once`: a command runs at most once per period, on all hosts together.

#include <csignal>
#include <fstream>
#include <regex>
#include <sstream>

#include "cli/cli_process.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/periodic/once_per_period.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::once_test {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

Words once_words(const TestClient& client, const Words& options, const std::string& script) {
  Words words{"--namespace", client.root(), "once", "/job"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", "sh", "-c", script});
  return words;
}

Words hourly(const TestClient& client, const std::string& script, const Words& options = {}) {
  Words all{"--every", "1h"};
  all.insert(all.end(), options.begin(), options.end());
  return once_words(client, all, script);
}

std::optional<PeriodRun> last_run(TestClient& client) {
  return OncePerPeriod{*client, "/job", {.every = 1h}}.last_run();
}

bool is_free(TestClient& client) {
  return eventually([&] { return names_below(*client, "/job/lock").empty(); });
}

/// The output without the parts that differ from run to run: times, names of processes and widths.
std::string likeness(std::string text) {
  for (const auto& [form, word] :
       {std::pair{R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)", "TIME"},
        std::pair{R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ)", "TIME"}, std::pair{R"([^ ]+/\d+)", "WHO"},
        std::pair{R"(LASTED +[0-9a-z.]+)", "LASTED"}, std::pair{" +", " "}}) {
    text = std::regex_replace(text, std::regex{form}, word);
  }
  return text;
}

/// The lines that docs/operating.md shows behind the command.
std::string documented(const std::string& command) {
  std::ifstream page{CUSTODIAN_OPERATING};
  const std::string margin(4, ' ');
  std::string line;
  while (std::getline(page, line) && line != margin + "$ " + command) continue;
  std::string shown;
  while (std::getline(page, line) && line.starts_with(margin) && !line.starts_with(margin + "$ ")) {
    shown += line.substr(margin.size()) + '\n';
  }
  return shown;
}

}  // namespace

TEST_CASE("once: the first call runs the command, and the next ones in the period do not") {
  TestClient client{"once"};
  const Ended first = run_cli(
      hourly(client,
             "echo $CUSTODIAN_LOCK_PATH $CUSTODIAN_ONCE_ATTEMPT ${CUSTODIAN_MISSED_PERIODS-none} "
             "$CUSTODIAN_ONCE_DUE; custodian_node=$CUSTODIAN_LOCK_NODE; echo $custodian_node"));
  INFO(first.err);
  CHECK(first.status == 0);
  CHECK(first.err.empty());
  CHECK(first.out.starts_with("/job/lock 1 none 2"));
  CHECK(contains(first.out, "Z\n/job/lock/_c_"));
  CHECK(is_free(client));

  const Ended second = run_cli(hourly(client, "echo ran"));
  CHECK(second.status == 0);
  CHECK(second.out.empty());
  CHECK(contains(second.err, "custodian: nothing is run: /job: "));
  CHECK(contains(second.err, " has run it, begun 2"));
  CHECK(contains(second.err, "; the next run may begin at 2"));
  const auto last = last_run(client);
  REQUIRE(last);
  CHECK(last->state == RunState::succeeded);
  CHECK(last->status == 0);
  CHECK(last->every == 1h);
  CHECK(contains(second.err, last->by));
}

TEST_CASE("once: a script learns that it has no turn, by a status or by silence") {
  TestClient client{"once-silent"};
  CHECK(run_cli(hourly(client, "true")).status == 0);
  const Ended second = run_cli(hourly(client, "true", {"--quiet", "--no-turn-status", "9"}));
  CHECK(second.status == 9);
  CHECK(second.err.empty());
}

TEST_CASE("once: a run that has failed is not repeated, or is if asked, with its number") {
  TestClient client{"once-failed"};
  CHECK(run_cli(hourly(client, "exit 3")).status == 3);
  CHECK(last_run(client)->state == RunState::failed);
  CHECK(last_run(client)->status == 3);
  const Ended skipped = run_cli(hourly(client, "echo ran"));
  CHECK(skipped.status == 0);
  CHECK(skipped.out.empty());
  CHECK(contains(skipped.err, "and it has failed"));
  const Words retry{"--on-failure", "retry", "--catch-up"};
  const Ended again = run_cli(
      hourly(client, "echo $CUSTODIAN_ONCE_ATTEMPT $CUSTODIAN_MISSED_PERIODS; exit 4", retry));
  CHECK(again.status == 4);
  CHECK(again.out == "2 0\n");
  const Ended third = run_cli(hourly(client, "echo $CUSTODIAN_ONCE_ATTEMPT", retry));
  CHECK(third.out == "3\n");
  CHECK(run_cli(hourly(client, "echo $CUSTODIAN_ONCE_ATTEMPT", retry)).out.empty());
}

TEST_CASE("once: a command that cannot be run has used up nothing") {
  TestClient client{"once-missing"};
  const Ended missing = run_cli({"--namespace", client.root(), "once", "/job", "--every", "1h",
                                 "--", "custodian-has-no-such-command"});
  CHECK(missing.status == 127);
  CHECK(last_run(client)->state == RunState::not_begun);
  const Ended another = run_cli(hourly(client, "echo ran $CUSTODIAN_ONCE_ATTEMPT"));
  CHECK(another.out == "ran 1\n");
}

TEST_CASE("once: a signal is the command's, and its run has ended as any other") {
  TestClient client{"once-signal"};
  CliProcess cli{hourly(client, "trap 'exit 5' TERM; echo works.; while :; do sleep 0.02; done")};
  REQUIRE(cli.says("works."));
  CHECK(last_run(client)->state == RunState::running);
  const Ended other = run_cli(hourly(client, "echo ran"));
  CHECK(other.status == 0);
  CHECK(contains(other.err, " is running it, begun 2"));
  cli.signal(SIGTERM);
  CHECK(cli.end().status == 5);
  CHECK(last_run(client)->state == RunState::failed);
  CHECK(last_run(client)->status == 5);
}

TEST_CASE("once: a process that is killed in the midst has used up its period, unless asked") {
  TestClient client{"once-killed"};
  CliProcess cli{hourly(client, "echo works.; exec sleep 1000", {"--session-timeout", "5s"})};
  REQUIRE(cli.says("works."));
  cli.signal(SIGKILL);
  static_cast<void>(cli.end());
  REQUIRE(is_free(client));
  CHECK(last_run(client)->state == RunState::broken_off);
  const Ended skipped = run_cli(hourly(client, "echo ran"));
  CHECK(skipped.out.empty());
  CHECK(contains(skipped.err, "and has not ended it"));
  const Ended again =
      run_cli(hourly(client, "echo $CUSTODIAN_ONCE_ATTEMPT", {"--on-failure", "retry"}));
  CHECK(again.out == "2\n");
  CHECK(last_run(client)->state == RunState::succeeded);
}

TEST_CASE("once: a command whose lock is lost is ended, and its run counts as broken off") {
  TestClient client{"once-lost"};
  CliProcess cli{hourly(client, "echo works.; exec sleep 1000", {"--session-timeout", "5s"})};
  REQUIRE(cli.says("works."));
  for (const std::string& name : names_below(*client, "/job/lock")) {
    client->remove("/job/lock/" + name);
  }
  const Ended ended = cli.end();
  CHECK(ended.status == 70);
  CHECK(contains(ended.err, "is lost"));
  CHECK(last_run(client)->state == RunState::broken_off);
}

TEST_CASE("once: a record that is none stops everything, and stays as it is") {
  TestClient client{"once-foreign"};
  client->create("/job", "");
  client->create("/job/record", "{\"version\": 1}");
  for (const Words& words : {hourly(client, "echo ran"),
                             Words{"--namespace", client.root(), "once", "/job", "--show"}}) {
    const Ended ended = run_cli(words);
    CHECK(ended.status == 1);
    CHECK(ended.out.empty());
    CHECK(contains(ended.err, "/job/record is not a record"));
    CHECK(contains(ended.err, "delete it"));
  }
  CHECK(client->get("/job/record").data == "{\"version\": 1}");
}

TEST_CASE("once: a lock that somebody else holds is waited for, and then named") {
  TestClient client{"once-blocked"};
  InterProcessMutex mutex{*client, "/job/lock", {.identity = "somebody"}};
  const Lease lease = mutex.acquire();
  const Ended ended = run_cli(hourly(client, "echo ran", {"--wait", "1s"}));
  CHECK(ended.status == 75);
  CHECK(ended.out.empty());
  CHECK(contains(ended.err, "somebody"));
  CHECK_FALSE(last_run(client));
}

TEST_CASE("once: the last run is shown to people and to programs") {
  TestClient client{"once-show"};
  const Words show{"--namespace", client.root(), "once", "/job", "--show"};
  CHECK(run_cli(show).out == "no run of /job has ever begun\n");
  Words json = show;
  json.emplace_back("--json");
  CHECK(run_cli(json).out == "{\"job\":\"/job\",\"last\":null}\n");
  CHECK(
      run_cli(once_words(client, {"--every", "1d", "--identity", "web1/4711"}, "exit 0")).status ==
      0);
  const Ended shown = run_cli(show);
  CHECK(shown.status == 0);
  CHECK(likeness(shown.out) == likeness(documented("custodian once /jobs/report --show")));
  const std::string line = run_cli(json).out;
  INFO(line);
  for (const char* part : {R"("state":"succeeded")", R"("identity":"web1/4711")",
                           R"("every_ms":86400000)", R"("attempt":1)", R"("missed":0)",
                           R"("exit_status":0)", R"("lasted_ms":)", R"("due":"2)"}) {
    CHECK(contains(line, part));
  }
}

TEST_CASE("once: the line of a call without a turn is that of the documentation") {
  TestClient client{"once-line"};
  Words words{"--namespace", client.root(), "once", "/jobs/report", "--every", "1d", "--", "true"};
  CHECK(run_cli(words).status == 0);
  const std::string shown = documented("custodian once /jobs/report --every 1d -- ./report.sh");
  CHECK(likeness(run_cli(words).err) == likeness(shown));
}

TEST_CASE("once: a mistake in the command line ends with 64") {
  TestClient client{"once-mistakes"};
  for (const Words& words :
       {Words{}, Words{"--every", "0s"}, Words{"--every", "100ms"}, Words{"--every", "5"},
        Words{"--every", "1h", "--on-failure", "weep"}, Words{"--every", "1h", "--json"},
        Words{"--every", "1h", "--no-turn-status", "300"}, Words{"--every", "1h", "--show"},
        Words{"--every", "1h", "--on-lost", "ignore"}, Words{"--every", "5000d"}}) {
    const Ended ended = run_cli(once_words(client, words, "echo ran"));
    INFO((words.empty() ? "" : words.back()) << ": " << ended.err);
    CHECK(ended.status == 64);
    CHECK(ended.out.empty());
    CHECK(ended.err.starts_with("custodian: "));
  }
  CHECK(run_cli({"once", "/job", "--every", "1h"}).status == 64);
  CHECK(run_cli({"once", "/", "--every", "1h", "--", "true"}).status == 64);
}

TEST_CASE("once: where no server answers nothing is run") {
  CliProcess alone{CUSTODIAN_CLI,
                   {"--servers", "127.0.0.1:1", "once", "/job", "--every", "1h", "--wait", "300ms",
                    "--", "echo", "ran"}};
  const Ended ended = alone.end();
  CHECK(ended.status == 69);
  CHECK(ended.out.empty());
}

}  // namespace custodian::tests::once_test
