/// \file
/// Many hosts with wrong clocks call `custodian once` again and again. CUSTODIAN_TEST_ONCE=
/// <hosts>,<seconds>,<period>,<pause> sets how many, for how long, the period, and the seconds
/// between two calls of a host.

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <random>
#include <sstream>

#include "cli/cli_process.hpp"
#include "custodian/periodic/once_per_period.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::once_fleet_test {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;
using std::chrono::milliseconds;

struct Plan {
  std::size_t hosts = 4;
  double seconds = 17;
  double period = 5;
  double pause = 0.5;
};

Plan plan() {
  Plan plan;
  const char* const given = std::getenv("CUSTODIAN_TEST_ONCE");
  if (given == nullptr) return plan;
  char comma = ',';
  std::istringstream text{given};
  text >> plan.hosts >> comma >> plan.seconds >> comma >> plan.period >> comma >> plan.pause;
  return plan;
}

milliseconds in_ms(double seconds) {
  return std::chrono::ceil<milliseconds>(std::chrono::duration<double>{seconds});
}

/// A command that has reported its beginning.
struct Begun {
  std::string due;
  int attempt = 0;
};

/// Hosts. Each is a thread that calls `custodian once` again and again, with a clock that is wrong
/// by up to an hour.
class Hosts {
 public:
  /// The first of each `kill_one_in` runs is killed before it ends; 0: no run is killed.
  Hosts(const TestClient& client, const Plan& plan, const Words& options, int kill_one_in)
      : plan_{plan}, kill_one_in_{kill_one_in} {
    for (std::size_t host = 0; host < plan.hosts; ++host) {
      const auto span = static_cast<long>(plan.hosts);
      const long off = -3600 + 7200 * static_cast<long>(host) / (span > 1 ? span - 1 : 1);
      threads_.emplace_back(
          [this, words = words_of(client, options, off), host] { live(words, host); });
    }
  }
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;
  ~Hosts() { end(); }

  void end() {
    over_ = true;
    threads_.clear();
  }

  /// After end().
  [[nodiscard]] std::vector<Begun> begun() const {
    std::vector<Begun> all;
    std::ifstream file{directory_.file("begun")};
    for (Begun each; file >> each.due >> each.attempt;) all.push_back(each);
    return all;
  }
  [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }
  [[nodiscard]] int calls() const { return calls_; }
  [[nodiscard]] int kills() const { return kills_; }

 private:
  Words words_of(const TestClient& client, const Words& options, long off) const {
    Words words{"LD_PRELOAD=" + std::string{CUSTODIAN_WRONG_CLOCK},
                "CUSTODIAN_TEST_CLOCK_OFF=" + std::to_string(off),
                CUSTODIAN_CLI,
                "--servers",
                connect_string(),
                "--namespace",
                client.root(),
                "--session-timeout",
                "5s",
                "once",
                "/job",
                "--every",
                std::to_string(in_ms(plan_.period).count()) + "ms",
                "--wait",
                "25s"};
    words.insert(words.end(), options.begin(), options.end());
    const std::string script = "echo $CUSTODIAN_ONCE_DUE $CUSTODIAN_ONCE_ATTEMPT >> " +
                               directory_.file("begun") + "; echo begun.; sleep 0.4";
    words.insert(words.end(), {"--quiet", "--no-turn-status", "9", "--", "sh", "-c", script});
    return words;
  }

  void live(const Words& words, std::size_t host) {
    std::mt19937 random{static_cast<unsigned>(host)};
    std::uniform_real_distribution<double> pause{0.5, 1.5};
    while (!over_) {
      CliProcess call{"env", words};
      bool was_killed = false;
      bool is_counted = kill_one_in_ == 0;
      while (!call.has_ended()) {
        std::this_thread::sleep_for(10ms);
        if (is_counted || !contains(call.out(), "begun.")) continue;
        is_counted = true;
        if (runs_++ % kill_one_in_ != 0) continue;
        call.signal(SIGKILL);
        was_killed = true;
        ++kills_;
      }
      const Ended ended = call.end();
      ++calls_;
      const bool is_right = ended.status == 0 || ended.status == 9;
      if (!is_right && !was_killed) {
        const std::lock_guard lock{mutex_};
        complaints_.push_back(std::to_string(ended.status) + ": " + ended.err);
      }
      std::this_thread::sleep_for(in_ms(plan_.pause * pause(random)));
    }
  }

  const Plan plan_;
  const Directory directory_;
  std::atomic<bool> over_ = false;
  const int kill_one_in_;
  std::atomic<int> runs_ = 0;
  std::atomic<int> calls_ = 0;
  std::atomic<int> kills_ = 0;
  std::mutex mutex_;
  std::vector<std::string> complaints_;
  std::vector<std::jthread> threads_;
};

/// The time as a number of milliseconds within some days, for differences.
milliseconds time_of(const std::string& text) {
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int rest = 0;
  REQUIRE(std::sscanf(text.c_str(), "%*4d-%*2d-%2dT%2d:%2d:%2d.%3dZ", &day, &hour, &minute, &second,
                      &rest) == 5);
  return std::chrono::hours{24 * day + hour} + std::chrono::minutes{minute} +
         std::chrono::seconds{second} + milliseconds{rest};
}

}  // namespace

TEST_CASE("once: many hosts whose clocks are wrong run the command exactly once in each period") {
  TestClient client{"once-fleet"};
  const Plan hosts_plan = plan();
  // The clocks are wrong indeed.
  const Ended right = CliProcess{"date", {"+%s"}}.end();
  const Ended wrong = CliProcess{
      "env",
      {"LD_PRELOAD=" CUSTODIAN_WRONG_CLOCK, "CUSTODIAN_TEST_CLOCK_OFF=3600", "date",
       "+%s"}}.end();
  CHECK(std::stol(wrong.out) - std::stol(right.out) >= 3500);

  Hosts hosts{client, hosts_plan, {}, 0};
  std::this_thread::sleep_for(in_ms(hosts_plan.seconds));
  hosts.end();
  for (const std::string& complaint : hosts.complaints()) FAIL_CHECK(complaint);
  const std::vector<Begun> runs = hosts.begun();
  std::cout << "  " << hosts.calls() << " calls of " << hosts_plan.hosts << " hosts, "
            << runs.size() << " runs\n";
  REQUIRE(runs.size() >= 2);
  for (std::size_t at = 1; at < runs.size(); ++at) {
    INFO(runs[at - 1].due << ", then " << runs[at].due);
    // No period has two runs, and no period is without a run.
    CHECK(time_of(runs[at].due) - time_of(runs[at - 1].due) == in_ms(hosts_plan.period));
    CHECK(runs[at].attempt == 1);
  }
}

TEST_CASE("once: kills in the midst of runs cost periods, and give none a second run") {
  TestClient client{"once-kills"};
  const Plan hosts_plan = plan();
  Hosts hosts{client, hosts_plan, {}, 3};
  std::this_thread::sleep_for(in_ms(hosts_plan.seconds));
  CHECK(hosts.kills() >= 1);
  const std::size_t before = hosts.begun().size();
  // The next run begins when the session of the killed process has timed out.
  CHECK(eventually([&] { return hosts.begun().size() > before; }, 60s));
  hosts.end();
  for (const std::string& complaint : hosts.complaints()) FAIL_CHECK(complaint);
  const std::vector<Begun> runs = hosts.begun();
  std::cout << "  " << hosts.calls() << " calls, " << runs.size() << " runs, " << hosts.kills()
            << " killed\n";
  for (std::size_t at = 1; at < runs.size(); ++at) {
    INFO(runs[at - 1].due << ", then " << runs[at].due);
    CHECK(time_of(runs[at].due) - time_of(runs[at - 1].due) >= in_ms(hosts_plan.period));
    CHECK(runs[at].attempt == 1);
  }
}

TEST_CASE("once: with retry a killed run is begun again in its period, and a good one never") {
  TestClient client{"once-retries"};
  Plan hosts_plan = plan();
  hosts_plan.period = std::max(hosts_plan.period, 30.0);
  Hosts hosts{client, hosts_plan, {"--on-failure", "retry"}, 100};
  REQUIRE(eventually([&] { return hosts.begun().size() >= 2; }, 90s));
  // Some more calls, which get no turn.
  const int calls = hosts.calls();
  REQUIRE(eventually([&] { return hosts.calls() > calls + 3; }));
  hosts.end();
  for (const std::string& complaint : hosts.complaints()) FAIL_CHECK(complaint);
  const std::vector<Begun> runs = hosts.begun();
  REQUIRE(runs.size() >= 2);
  CHECK(runs[0].due == runs[1].due);
  CHECK(runs[1].attempt == 2);
  std::map<std::string, int> attempts;
  for (const Begun& each : runs) CHECK(each.attempt == ++attempts[each.due]);
}

}  // namespace custodian::tests::once_fleet_test
