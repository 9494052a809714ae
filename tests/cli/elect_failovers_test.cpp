// Pages of candidates (`custodian elect --http`), each polled by a process beside the candidate,
// while leaders are killed, stopped, ended, and lose their nodes.
//
// CUSTODIAN_TEST_FAILOVERS sets how often the leadership passes on; by default once in each way.

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "cli/cli_process.hpp"
#include "cli/http_client.hpp"
#include "support/number_in.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::elect_failovers_test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using std::chrono::steady_clock;

/// Judges the answers of the pages: once an answer has named a leader, no answer to a later
/// question may name an earlier leader.
class Answers {
 public:
  /// Notes that a page has named the leader with this token. The page cannot have computed its
  /// answer before `computed_after`.
  void add(long token, steady_clock::time_point computed_after) {
    const std::lock_guard lock{mutex_};
    ++number_;
    first_seen_.try_emplace(token, steady_clock::now());
    for (auto later = first_seen_.upper_bound(token); later != first_seen_.end(); ++later) {
      if (later->second < computed_after) ++wrong_;
    }
  }
  [[nodiscard]] long newest() const {
    const std::lock_guard lock{mutex_};
    return first_seen_.empty() ? 0 : first_seen_.rbegin()->first;
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] int wrong() const { return wrong_; }

 private:
  mutable std::mutex mutex_;
  std::map<long, steady_clock::time_point> first_seen_;
  std::atomic<int> number_ = 0;
  std::atomic<int> wrong_ = 0;
};

/// A candidate, and a thread that asks its page again and again.
class Candidate {
 public:
  Candidate(const TestClient& test, const std::string& id, Answers& answers)
      : words_{"--namespace", test.root(), "--session-timeout",
               "5s",          "elect",     "/leader",
               "--id",        id,          "--http",
               "127.0.0.1:0", "--",        "sleep",
               "1000"},
        answers_{answers} {
    start();
  }
  Candidate(const Candidate&) = delete;
  Candidate& operator=(const Candidate&) = delete;
  ~Candidate() { end(); }

  [[nodiscard]] bool leads() const { return token_ != 0 && token_ == answers_.newest(); }
  [[nodiscard]] std::string node() const {
    return json::parse(http_get(port_, "/leader").body).value("node", "");
  }
  /// The page and the output of the candidate, for the message of a failed test.
  [[nodiscard]] std::string described() const {
    return http_get(port_, "/leader").body + process_->err();
  }
  void kill_and_start_again(int signal) {
    process_->signal(signal);
    end();
    start();
  }
  void stop() {
    process_->signal(SIGSTOP);
    stopped_ = true;
  }
  void go_on() {
    // The candidate answers a question that came while it was stopped only after this time.
    went_on_ = steady_clock::now();
    stopped_ = false;
    process_->signal(SIGCONT);
  }

 private:
  void start() {
    process_ = std::make_unique<CliProcess>(words_);
    const bool listens = process_->says("listening at http://");
    INFO(process_->err());
    REQUIRE(listens);
    port_ = port_in(process_->err());
    asker_ = std::jthread{[this](const std::stop_token& over) {
      while (!over.stop_requested()) ask();
    }};
  }
  void end() {
    asker_.request_stop();
    process_.reset();  // kills it
    asker_ = {};
  }
  void ask() {
    const auto asked = steady_clock::now();
    const bool stopped = stopped_;
    long token = 0;
    try {
      const HttpReply reply = http_get(port_, "/leader");
      if (reply.status == 200)
        token = std::stol(json::parse(reply.body)["token"].get<std::string>());
    } catch (const std::exception&) {
      // The candidate was killed meanwhile.
    }
    token_ = token;
    if (token != 0) answers_.add(token, stopped ? went_on_.load() : asked);
    std::this_thread::sleep_for(5ms);
  }

  const std::vector<std::string> words_;
  Answers& answers_;
  std::unique_ptr<CliProcess> process_;
  std::uint16_t port_ = 0;
  std::atomic<long> token_ = 0;  ///< of the newest answer; 0 if that was no
  std::atomic<bool> stopped_ = false;
  std::atomic<steady_clock::time_point> went_on_{steady_clock::time_point{}};
  std::jthread asker_;  ///< last: it uses the others
};

}  // namespace

TEST_CASE("no page says that an earlier leader leads, through kills, stops and lost nodes") {
  TestClient test{"elect-failovers"};
  const int wanted = number_in("CUSTODIAN_TEST_FAILOVERS", 4);
  Answers answers;
  std::array<std::unique_ptr<Candidate>, 3> candidates;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i] = std::make_unique<Candidate>(test, "host-" + std::to_string(i), answers);
  }
  const auto leader = [&]() -> Candidate* {
    for (const auto& each : candidates) {
      if (each->leads()) return each.get();
    }
    return nullptr;
  };
  steady_clock::duration longest{};
  for (int i = 0; i < wanted; ++i) {
    CAPTURE(i);
    // Polls each leader for a while, and also the previous leader, which may have been stopped.
    std::this_thread::sleep_for(300ms);
    REQUIRE(eventually([&] { return leader() != nullptr; }, 2 * patience));
    Candidate& old = *leader();
    const long before = answers.newest();
    const auto begin = steady_clock::now();
    const auto passes_on = [&] {
      const bool has = eventually([&] { return answers.newest() > before; }, 2 * patience);
      longest = std::max(longest, steady_clock::now() - begin);
      if (!has) {
        for (const std::string& each : test->children("/leader").names) UNSCOPED_INFO(each);
        for (const auto& each : candidates) UNSCOPED_INFO(each->described());
      }
      return has;
    };
    switch (i % 4) {
      case 0: old.kill_and_start_again(SIGTERM); break;
      case 1:
        old.stop();
        REQUIRE(passes_on());
        old.go_on();
        break;
      case 2: old.kill_and_start_again(SIGKILL); break;
      default: static_cast<void>(test->remove(old.node())); break;
    }
    REQUIRE(passes_on());
  }
  CHECK(answers.wrong() == 0);
  std::cout << "  " << wanted << " fail-overs, the longest " << longest / 1ms << " ms; "
            << answers.number() << " times yes, " << answers.wrong() << " of them wrong\n";
}

}  // namespace custodian::tests::elect_failovers_test
