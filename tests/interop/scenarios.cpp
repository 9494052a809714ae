#include "scenarios.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <list>
#include <set>

#include "crowd.hpp"
#include "stage.hpp"

namespace custodian::tests {

using namespace std::chrono_literals;

void count_together(const Peer& one, const Peer& other, const std::string& kind, int increments) {
  Stage stage{"count"};
  // The lock's node is persistent: the servers could remove an empty container, and sequence
  // numbers would begin again.
  stage.client().create("/lock");
  std::vector<std::string> queues{"lock"};
  if (kind == "semaphore-mutex") {
    queues = {"lock/locks", "lock/leases"};
    for (const std::string& queue : queues) stage.client().create('/' + queue);
  }

  Crowd crowd{one, other};
  std::ofstream{crowd.file("counter")} << 0 << '\n';
  crowd.does("increment " + kind + ' ' + stage.path("lock") + ' ' +
             std::to_string(increments / Crowd::size));

  int counter = 0;
  std::ifstream{crowd.file("counter")} >> counter;
  CHECK(counter == increments);
  const demo::Verdict verdict = crowd.history();
  for (const std::string& fault : verdict.faults) UNSCOPED_INFO(fault);
  CHECK(verdict.flawless());
  CHECK(verdict.holds.size() == static_cast<std::size_t>(increments));
  // The libraries took turns. If one had counted after the other, the test would show nothing.
  int changes = 0;
  for (std::size_t i = 1; i < verdict.holds.size(); ++i) {
    if (Crowd::is_of_one(verdict.holds[i - 1]) != Crowd::is_of_one(verdict.holds[i])) ++changes;
  }
  CHECK(changes >= increments / 20);
  for (const std::string& queue : queues) CHECK(stage.becomes(stage.path(queue), 0));
}

void stand_in_one_queue(const Peer& one, const Peer& other) {
  Stage stage{"queue"};
  Driver ones{one};
  Driver others{other};
  const std::string path = stage.path("lock");
  // These sessions only try. (A try of Curator's leaves a watch, so its session would seem to wait
  // later.)
  Session one_passing{ones, "passing"};
  Session other_passing{others, "passing"};
  std::list<Session> sessions;
  for (const char* name : {"1", "2", "3"}) {
    sessions.emplace_back(ones, name);
    sessions.emplace_back(others, name);
  }
  std::size_t count = 0;
  for (auto session = sessions.begin(); session != sessions.end(); ++session) {
    if (count > 0) {
      CHECK(one_passing.does("try mutex " + path) == "no");
      CHECK(other_passing.does("try mutex " + path) == "no");
    }
    session->begin("acquire mutex " + path);
    REQUIRE(stage.becomes(path, ++count));
    if (count > 1) CHECK(stage.waits(*session, *std::prev(session), path));
  }
  for (Session& session : sessions) {
    static_cast<void>(session.end());
    CHECK(stage.becomes(path, count--));
    for (auto& later : sessions) CHECK_FALSE(later.has_ended());
    session.does("release mutex " + path);
  }
}

void read_together(const Peer& one, const Peer& other) {
  Stage stage{"read"};
  Driver ones{one};
  Driver others{other};
  const std::string path = stage.path("lock");
  const std::string read = "read " + path;
  const std::string write = "write " + path;
  Session ones_reader{ones, "reader"};
  Session ones_writer{ones, "writer"};
  Session others_reader{others, "reader"};
  Session late_reader{others, "late-reader"};
  // These sessions only try.
  Session one_passing{ones, "passing"};
  Session other_passing{others, "passing"};

  ones_reader.does("acquire " + read);
  others_reader.does("acquire " + read);
  CHECK(stage.becomes(path, 2));
  CHECK(one_passing.does("try " + write) == "no");
  CHECK(other_passing.does("try " + write) == "no");

  // The writer waits until the last reader has released, and precedes readers that come later.
  ones_writer.begin("acquire " + write);
  REQUIRE(stage.waits(ones_writer, others_reader, path));
  ones_reader.does("release " + read);
  CHECK(one_passing.does("try " + read) == "no");
  CHECK(other_passing.does("try " + read) == "no");
  CHECK_FALSE(ones_writer.has_ended());
  others_reader.does("release " + read);
  static_cast<void>(ones_writer.end());

  CHECK(other_passing.does("try " + read) == "no");
  CHECK(other_passing.does("try " + write) == "no");
  late_reader.begin("acquire " + read);
  REQUIRE(stage.waits(late_reader, ones_writer, path));
  ones_writer.does("release " + write);
  static_cast<void>(late_reader.end());
  CHECK(one_passing.does("try " + read) == "yes");
}

void downgrade(const Peer& downgrading, const Peer& other, NextWriter next_writer) {
  Stage stage{"downgrade"};
  Driver its{downgrading};
  Driver others{other};
  const std::string path = stage.path("lock");
  Session holder{its, "holder"};
  Session reader{others, "reader"};
  Session passing{others, "passing"};
  Session writer{others, "writer"};

  holder.does("acquire write " + path);
  reader.begin("acquire read " + path);
  REQUIRE(stage.waits(reader, holder, path));
  holder.does("acquire read " + path);
  if (next_writer == NextWriter::waits_meanwhile) {
    writer.begin("acquire write " + path);
    REQUIRE(stage.becomes(path, 4));
  }
  CHECK_FALSE(reader.has_ended());
  holder.does("release write " + path);

  static_cast<void>(reader.end());
  if (next_writer == NextWriter::comes_later) {
    CHECK(passing.does("try read " + path) == "yes");
    passing.does("release read " + path);
    writer.begin("acquire write " + path);
    REQUIRE(stage.waits(writer, reader, path));
  }
  REQUIRE(stage.becomes(path, 3));
  CHECK_FALSE(writer.has_ended());
  CHECK(passing.does("try read " + path) == "no");
  reader.does("release read " + path);
  REQUIRE(stage.waits(writer, holder, path));
  CHECK_FALSE(writer.has_ended());
  holder.does("release read " + path);
  static_cast<void>(writer.end());
  CHECK(stage.becomes(path, 1));
}

Downgrade downgrade_before_writer(const Peer& downgrading, const Peer& other) {
  Stage stage{"downgrade-before-writer"};
  Driver its{downgrading};
  Driver others{other};
  const std::string path = stage.path("lock");
  Session holder{its, "holder"};
  Session writer{others, "writer"};
  holder.does("acquire write " + path);
  writer.begin("acquire write " + path);
  REQUIRE(stage.waits(writer, holder, path));
  holder.does("acquire read " + path);
  std::set<std::string> numbers;
  for (const std::string& node : stage.nodes(holder, path))
    numbers.insert(node.substr(node.size() - 10));
  holder.does("release write " + path);
  REQUIRE(stage.becomes(path, 2));
  // The writer either waits for the reader, or has acquired the lock.
  bool passed = false;
  REQUIRE(eventually([&] {
    passed = writer.has_ended();
    const auto watchers = stage.watchers(holder, path);
    return passed || std::ranges::find(watchers, writer.id()) != watchers.end();
  }));
  holder.does("release read " + path);
  static_cast<void>(writer.end());
  return {.keeps_its_place = numbers.size() == 1, .is_passed = passed};
}

void kill_holder(const Peer& killed, const Peer& other) {
  constexpr auto short_session = 3s;  // after a kill, others wait this long for the locks
  Stage stage{"kill"};
  Driver its{killed};
  Driver others{other};
  const std::string kept = stage.path("kept");
  Session keeper{others, "keeper"};
  Session waiter{its, "waiter", short_session};
  Session behind{others, "behind"};
  keeper.does("acquire mutex " + kept);
  waiter.begin("acquire mutex " + kept);
  REQUIRE(stage.waits(waiter, keeper, kept));
  behind.begin("acquire mutex " + kept);
  REQUIRE(stage.waits(behind, waiter, kept));

  struct Held {
    std::string hold;
    std::string wait;
  };
  std::list<Session> sessions;
  const std::vector<Held> locks{
      {"mutex", "mutex"}, {"write", "write"}, {"write", "read"}, {"read", "write"}};
  for (std::size_t i = 0; i < locks.size(); ++i) {
    const std::string path = stage.path("lock-" + std::to_string(i));
    Session& holder = sessions.emplace_back(its, "holder-" + std::to_string(i), short_session);
    holder.does("acquire " + locks[i].hold + " " + path);
    Session& next = sessions.emplace_back(others, "next-" + std::to_string(i));
    next.begin("acquire " + locks[i].wait + " " + path);
    REQUIRE(stage.waits(next, holder, path));
  }
  its.kill();
  keeper.does("release mutex " + kept);
  for (std::size_t i = 0; i < locks.size(); ++i) {
    Session& next = *std::next(sessions.begin(), static_cast<std::ptrdiff_t>(2 * i + 1));
    static_cast<void>(next.end());
    CHECK(stage.becomes(stage.path("lock-" + std::to_string(i)), 1));
  }
  static_cast<void>(behind.end());
  CHECK(stage.becomes(kept, 1));
}

void revoke(const Peer& asked, const Peer& other) {
  Stage stage{"revoke"};
  Driver its{asked};
  Driver others{other};
  for (const std::string kind : {"mutex", "write", "read"}) {
    const std::string path = stage.path(kind);
    std::string lock = kind + ' ';
    lock += path;
    const std::string wanted = (kind == "mutex" ? "mutex " : "write ") + path;
    Session holder{its, "holder-" + kind};
    Session waiter{others, "waiter-" + kind};
    Session asking{others, "asking-" + kind};
    holder.does("acquire-revocable " + lock);
    waiter.begin("acquire " + wanted);
    REQUIRE(stage.waits(waiter, holder, path));
    for (int time = 0; time < 3; ++time) {
      asking.does("revoke " + lock);
      holder.does("await-revocation");
    }
    // Our holder writes its identity back into its node, where Curator's leaves the request.
    if (asked.name == ours().name) CHECK(stage.becomes_named(holder, path));
    CHECK_FALSE(waiter.has_ended());
    holder.does("release " + lock);
    static_cast<void>(waiter.end());
  }
}

}  // namespace custodian::tests
