// Processes that wait for each other: a circle of two, and one of three, is found, shown, and ended
// by one of its processes; in a busy system without a circle none is found.
//
// CUSTODIAN_TEST_DEADLOCK_PROCESSES=200 and CUSTODIAN_TEST_DEADLOCK_SECONDS=600 make the busy
// system as large as it should be now and then.

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "cli/look.hpp"
#include "crowds/crowd.hpp"
#include "custodian/inspect/list_locks.hpp"
#include "custodian/inspect/wait_cycles.hpp"
#include "support/number_in.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::deadlock_processes_test {
namespace {

using namespace std::chrono_literals;
using crowds::Crowd;
using crowds::Words;

constexpr std::chrono::milliseconds session_timeout = 10s;

std::string text_of(const Words& words) {
  std::string text;
  for (const std::string& each : words) text += (text.empty() ? "" : " ") + each;
  return text;
}

/// Processes "p0", "p1", ..., and the last line of each.
class Processes {
 public:
  Processes(TestClient& client, int count)
      : crowd_{connect_string() + client.root(), session_timeout,
               [this](const std::string& worker, const Words& words) { note(worker, words); }} {
    for (int i = 0; i < count; ++i) crowd_.start(name(i));
  }

  static std::string name(int number) { return "p" + std::to_string(number); }
  void tell(int number, const std::string& line) { crowd_.tell(name(number), line); }
  /// Waits until the process has said this.
  [[nodiscard]] bool says(int number, const std::string& line) {
    return crowd_.until([&] { return said_[name(number)].starts_with(line); }, patience);
  }
  [[nodiscard]] std::string said(int number) { return said_[name(number)]; }
  void listen(std::chrono::milliseconds time) {
    static_cast<void>(crowd_.until([] { return false; }, time));
  }
  [[nodiscard]] const std::vector<std::string>& alarms() const { return alarms_; }

 private:
  void note(const std::string& worker, const Words& words) {
    if (words.empty()) return;
    said_[worker] = text_of(words);
    if (words.front() == "alarm") alarms_.push_back(worker + ": " + said_[worker]);
  }

  std::map<std::string, std::string> said_;
  std::vector<std::string> alarms_;
  Crowd crowd_;
};

std::string lock(int number) { return "/locks/" + std::to_string(number); }

/// Each process holds one lock, and then waits for the lock of the next process; `wants` is the
/// order that makes it wait.
void close_the_circle(TestClient& client, Processes& processes,
                      const std::vector<std::string>& wants) {
  const int count = static_cast<int>(wants.size());
  for (int i = 0; i < count; ++i) {
    processes.tell(i, "hold " + lock(i));
    REQUIRE(processes.says(i, "held " + lock(i)));
  }
  for (int i = 0; i < count; ++i) {
    const std::string wanted = lock((i + 1) % count);
    processes.tell(i, wants[static_cast<std::size_t>(i)] + " " + wanted);
    REQUIRE(eventually([&] { return client->children(wanted).names.size() == 2; }));
  }
}

void check_circle_of(int count) {
  TestClient client{"deadlock-of-" + std::to_string(count)};
  Processes processes{client, count};
  // No process detects deadlocks: the circle stays, and the command shows it.
  close_the_circle(client, processes,
                   std::vector<std::string>(static_cast<std::size_t>(count), "hold"));
  const Result drawn = look(client, {"list", "--cycles"});
  INFO(drawn.output);
  CHECK(drawn.status == 1);
  CHECK(drawn.output.find(std::to_string(count) + " sessions wait for each other:\n") == 0);
  for (int i = 0; i < count; ++i)
    CHECK(drawn.output.find(" " + lock(i) + " ") != std::string::npos);
}

void check_detection_among(int count) {
  TestClient client{"detection-among-" + std::to_string(count)};
  Processes processes{client, count};
  close_the_circle(client, processes,
                   std::vector<std::string>(static_cast<std::size_t>(count), "want"));
  const int youngest = count - 1;
  REQUIRE(processes.says(youngest, "deadlock"));
  const std::string message = processes.said(youngest);
  INFO(message);
  CHECK(message.find("acquire " + lock(0) + " (" + std::to_string(count) +
                     " processes wait for each other: ") != std::string::npos);
  CHECK(message.find("holds " + lock(youngest) + " since ") != std::string::npos);
  CHECK(look(client, {"list", "--cycles"}).status == 0);
  // The others wait on, and go on one after the other.
  for (int i = 0; i < youngest; ++i) CHECK(processes.said(i) == "held " + lock(i));
  processes.tell(youngest, "release");
  for (int i = youngest - 1; i >= 0; --i) {
    REQUIRE(processes.says(i, "held " + lock(i + 1)));
    processes.tell(i, "release");
    REQUIRE(processes.says(i, "released"));
  }
}

TEST_CASE("deadlock: a circle of two processes is drawn by list --cycles, with status 1") {
  check_circle_of(2);
}

TEST_CASE("deadlock: a circle of three processes is drawn by list --cycles, with status 1") {
  check_circle_of(3);
}

TEST_CASE("deadlock: of two processes that wait for each other the youngest waiter fails") {
  check_detection_among(2);
}

TEST_CASE("deadlock: of three processes that wait for each other the youngest waiter fails") {
  check_detection_among(3);
}

TEST_CASE("deadlock: a busy system without a circle has no false alarm") {
  const int count = static_cast<int>(number_in("CUSTODIAN_TEST_DEADLOCK_PROCESSES", 8));
  const std::chrono::seconds time{number_in("CUSTODIAN_TEST_DEADLOCK_SECONDS", 8)};
  TestClient client{"deadlock-busy"};
  Processes processes{client, count};
  // Looks cost requests, so many processes look less often. Every fourth process has several
  // threads, which hold for less than a look; the others have one, and hold for more than two.
  const int every = std::max(500, 50 * count);
  const int locks = count + 2;
  for (int i = 0; i < count; ++i) {
    const bool has_threads = i % 4 == 3;
    processes.tell(i, "every " + std::to_string(every));
    processes.tell(i, "work " + std::to_string(locks) + (has_threads ? " 3 " : " 1 ") +
                          std::to_string(has_threads ? every / 2 : every * 3) + ' ' +
                          std::to_string(1 + 10 * i));
  }
  int suspicions = 0;
  int listings = 0;
  for (const Deadline end{time}; !end.passed(); ++listings) {
    processes.listen(500ms);
    if (!find_wait_cycles(list_locks(*client, "/").locks).empty()) ++suspicions;
  }
  int acquires = 0;
  int long_waits = 0;
  int alarms = 0;
  for (int i = 0; i < count; ++i) processes.tell(i, "rest");
  for (int i = 0; i < count; ++i) {
    REQUIRE(processes.says(i, "rested"));
    std::istringstream text{processes.said(i).substr(7)};
    int own_acquires = 0;
    int own_waits = 0;
    int own_alarms = 0;
    text >> own_acquires >> own_waits >> own_alarms;
    acquires += own_acquires;
    long_waits += own_waits;
    alarms += own_alarms;
  }
  for (const std::string& each : processes.alarms()) UNSCOPED_INFO(each);
  CHECK(alarms == 0);
  CHECK(acquires > count);
  CHECK(long_waits > 0);
  std::cout << "  " << count << " processes, " << acquires << " acquires; " << long_waits
            << " waited for longer than two looks while they held something; " << alarms
            << " false alarms; list --cycles would have shown a circle " << suspicions
            << " times of " << listings << '\n';
}

}  // namespace
}  // namespace custodian::tests::deadlock_processes_test
