#include <algorithm>
#include <deque>
#include <list>
#include <map>

#include "at_once.hpp"
#include "crowd.hpp"
#include "scenarios.hpp"
#include "stage.hpp"

namespace custodian::tests {

using namespace std::chrono_literals;

namespace {

/// The two nodes below a semaphore's path, which are the same for Curator and our library.
std::string turnstile(const std::string& path) { return path + "/locks"; }
std::string leases(const std::string& path) { return path + "/leases"; }

}  // namespace

void visit_together(const Peer& one, const Peer& other, int maximum, int visits) {
  Stage stage{"visit"};
  const std::string path = stage.path("semaphore");
  Crowd crowd{one, other};
  crowd.does("visit " + std::to_string(maximum) + ' ' + path + ' ' +
             std::to_string(visits / Crowd::size));

  const demo::Verdict history = crowd.history();
  const std::vector<demo::Hold>& holds = history.holds;
  CHECK(history.malformed == 0);
  CHECK(holds.size() >= static_cast<std::size_t>(visits));
  CHECK(most_at_once(holds) == static_cast<std::size_t>(maximum));
  // Holds of the two libraries overlapped. If one library had come after the other, the test would
  // show nothing.
  std::vector<demo::Hold> ones;
  std::vector<demo::Hold> others;
  for (const demo::Hold& hold : holds) (Crowd::is_of_one(hold) ? ones : others).push_back(hold);
  const auto meets_one = [&](const demo::Hold& hold) {
    return std::ranges::any_of(
        ones, [&](const demo::Hold& met) { return met.in < hold.out && hold.in < met.out; });
  };
  CHECK(std::ranges::any_of(others, meets_one));
  CHECK(stage.becomes(leases(path), 0));
  CHECK(stage.becomes(turnstile(path), 0));
}

void serve_in_order(int maximum, const std::vector<Ask>& asks) {
  Stage stage{"order"};
  const std::string path = stage.path("semaphore");
  std::map<std::string, Driver> drivers;
  std::list<Session> passing;
  std::vector<Session> sessions;
  for (const Ask& ask : asks) {
    const auto [driver, is_new] = drivers.try_emplace(ask.peer.name, ask.peer);
    if (is_new) passing.emplace_back(driver->second, "passing");
    sessions.emplace_back(driver->second, "session-" + std::to_string(sessions.size()));
  }
  const std::string one = "1-of-" + std::to_string(maximum) + ' ' + path;

  std::size_t served = 0;
  int taken = 0;
  const auto serve = [&](std::size_t asked) {
    for (; served < asked && taken + asks[served].permits <= maximum; ++served) {
      static_cast<void>(sessions[served].end());
      taken += asks[served].permits;
    }
    REQUIRE(stage.becomes(turnstile(path), asked - served));
    for (std::size_t i = served; i < asked; ++i) CHECK_FALSE(sessions[i].has_ended());
    if (served == asked) return;
    for (Session& session : passing) CHECK(session.does("try " + one) == "no");
    // A try by our library leaves its node until the delete is applied. That node must not be taken
    // for the next client's.
    REQUIRE(stage.becomes(turnstile(path), asked - served));
  };
  for (std::size_t i = 0; i < asks.size(); ++i) {
    sessions[i].begin("acquire " + asks[i].kind + ' ' + path);
    serve(i + 1);
  }
  REQUIRE(served < asks.size());
  for (std::size_t i = 0; i < asks.size(); ++i) {
    sessions[i].does("release " + asks[i].kind + ' ' + path);
    taken -= asks[i].permits;
    serve(asks.size());
  }
  for (Session& session : passing) {
    REQUIRE(stage.becomes(leases(path), 0));
    CHECK(session.does("try " + one) == "yes");
    session.does("release " + one);
  }
}

void kill_holder_of_permits(const Peer& killed, const Peer& other) {
  constexpr auto short_session = 3s;  // after a kill, others wait this long for the permits
  Stage stage{"kill-permits"};
  Driver its{killed};
  Driver others{other};
  // `waiter` is first in the queue, and has created its node in leases.
  const std::string kept = stage.path("kept");
  Session keeper{others, "keeper"};
  Session waiter{its, "waiter", short_session};
  Session behind{others, "behind"};
  keeper.does("acquire 1-of-1 " + kept);
  waiter.begin("acquire 1-of-1 " + kept);
  REQUIRE(stage.becomes(leases(kept), 2));
  behind.begin("acquire 1-of-1 " + kept);
  REQUIRE(stage.becomes(turnstile(kept), 2));

  const std::string mutex = stage.path("mutex");
  Session mutex_holder{its, "mutex-holder", short_session};
  Session mutex_next{others, "mutex-next"};
  mutex_holder.does("acquire semaphore-mutex " + mutex);
  mutex_next.begin("acquire semaphore-mutex " + mutex);
  REQUIRE(stage.becomes(leases(mutex), 2));

  const std::string semaphore = stage.path("semaphore");
  Session holder_of_two{its, "holder-of-two", short_session};
  Session holder_of_one{others, "holder-of-one"};
  Session next{others, "next"};
  Session after_next{others, "after-next"};
  holder_of_two.does("acquire 2-of-3 " + semaphore);
  holder_of_one.does("acquire 1-of-3 " + semaphore);
  next.begin("acquire 1-of-3 " + semaphore);
  REQUIRE(stage.becomes(leases(semaphore), 4));
  after_next.begin("acquire 1-of-3 " + semaphore);
  REQUIRE(stage.becomes(turnstile(semaphore), 2));

  for (Session* waiting : {&behind, &mutex_next, &next, &after_next})
    CHECK_FALSE(waiting->has_ended());
  its.kill();
  keeper.does("release 1-of-1 " + kept);
  for (Session* waiting : {&behind, &mutex_next, &next, &after_next})
    static_cast<void>(waiting->end());
  CHECK(stage.becomes(leases(kept), 1));
  CHECK(stage.becomes(leases(mutex), 1));
  CHECK(stage.becomes(leases(semaphore), 3));
  for (const std::string& path : {kept, mutex, semaphore}) CHECK(stage.becomes(turnstile(path), 0));
}

void count_in_common(const Peer& one, const Peer& other) {
  Stage stage{"count-in-common"};
  const std::string path = ' ' + stage.path("count") + ' ';
  Driver ones{one};
  Driver others{other};
  Session one_counting{ones, "counting"};
  Session other_counting{others, "counting"};
  Session one_told{ones, "told"};
  Session other_told{others, "told"};

  one_counting.does("count" + path + "1");
  other_told.does("await-count" + path + "1");
  one_told.begin("await-count" + path + "2");
  other_counting.does("count" + path + "1");
  static_cast<void>(one_told.end());
  other_told.begin("await-count" + path + "3");
  one_counting.does("count" + path + "1");
  static_cast<void>(other_told.end());

  one_told.begin("await-count" + path + "203");
  other_told.begin("await-count" + path + "203");
  one_counting.begin("count" + path + "100");
  other_counting.begin("count" + path + "100");
  for (Session* session : {&one_counting, &other_counting, &one_told, &other_told})
    static_cast<void>(session->end());
  CHECK(stage.client().get("/count").data == std::string{"\0\0\0\xcb", 4});
}

void add_in_common(const Peer& one, const Peer& other, const std::string& width, int times) {
  Stage stage{"add-in-common"};
  const std::string command = "add " + width + ' ' + stage.path("number") + ' ';
  constexpr int processes = 3;
  std::deque<Driver> drivers;
  std::deque<Session> sessions;
  for (int i = 0; i < processes; ++i) {
    for (const Peer* peer : {&one, &other})
      sessions.emplace_back(drivers.emplace_back(*peer), "adds");
  }
  // A process of `one` creates the node, and at the end adds to the value that the others leave.
  sessions.front().does(command + "1");
  for (Session& session : sessions) session.begin(command + std::to_string(times));
  for (Session& session : sessions) static_cast<void>(session.end());
  sessions.front().does(command + "1");
  stage.client().sync("/");
  const std::string bytes = stage.client().get("/number").data;
  REQUIRE(bytes.size() == (width == "long" ? 8 : 4));
  std::int64_t value = 0;
  for (const char byte : bytes) value = value * 256 + static_cast<unsigned char>(byte);
  CHECK(value == 2 + 2 * processes * times);
}

}  // namespace custodian::tests
