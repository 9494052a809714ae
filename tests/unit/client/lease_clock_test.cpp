#include "client/lease_clock.hpp"

#include <chrono>
#include <random>
#include <string>

#include "support/catch.hpp"

namespace custodian::tests::lease_clock_test {

using custodian::ReplyProof;
using custodian::SessionInfo;
using custodian::detail::Heartbeat;
using custodian::detail::LeaseClock;
using namespace std::chrono_literals;

namespace {

using Time = LeaseClock::Time;

/// The time of the boot clock that is this long after a fixed time.
Time at(std::chrono::milliseconds moment) { return Time{1'000s} + moment; }

constexpr auto timeout = 10'000ms;
constexpr auto touch = 1'500ms;
/// How long a lease lasts after the latest proof that the session was alive.
constexpr auto lasts = 9'000ms;

SessionInfo connection(std::uint64_t number, std::chrono::milliseconds handshake,
                       std::chrono::milliseconds negotiated = timeout) {
  SessionInfo info;
  info.id = 1;
  info.timeout = negotiated;
  info.connection = number;
  info.handshake = at(handshake);
  return info;
}

ReplyProof answer(std::chrono::milliseconds sent, std::chrono::milliseconds acknowledged,
                  bool quorum_result, std::uint64_t on = 1) {
  return {on, at(sent), at(acknowledged), quorum_result};
}

struct Running {
  Running() { clock.connected(connection(1, 0ms)); }
  LeaseClock clock{touch};
};

}  // namespace

TEST_CASE("a new session is credited with its handshake", "[lease-clock]") {
  LeaseClock clock{touch};
  clock.connected(connection(1, 20ms));
  CHECK(clock.valid_until() == at(20ms + lasts));
  CHECK(clock.comfortable_rest() == LeaseClock::Duration{timeout} / 3);
  CHECK(clock.can_run());
}

TEST_CASE("answers alone credit nothing, however many a server gives", "[lease-clock]") {
  Running running;
  for (auto moment = 100ms; moment < 20'000ms; moment += 100ms) {
    running.clock.answered(answer(moment, moment + 5ms, false));
  }
  CHECK(running.clock.valid_until() == at(lasts));
}

TEST_CASE("a quorum result credits what was answered a touch interval before it was sent",
          "[lease-clock]") {
  Running running;
  running.clock.answered(answer(1'000ms, 1'010ms, false));
  running.clock.answered(answer(2'000ms, 2'010ms, false));
  running.clock.answered(answer(3'509ms, 3'520ms, true));
  CHECK(running.clock.valid_until() == at(1'000ms + lasts));
  running.clock.answered(answer(3'510ms, 3'530ms, true));
  CHECK(running.clock.valid_until() == at(2'000ms + lasts));
}

TEST_CASE("a quorum result is credited itself by a later one only", "[lease-clock]") {
  Running running;
  running.clock.answered(answer(2'000ms, 2'010ms, true));
  CHECK(running.clock.valid_until() == at(lasts));
  running.clock.answered(answer(3'510ms, 3'520ms, true));
  CHECK(running.clock.valid_until() == at(2'000ms + lasts));
}

TEST_CASE("what was sent before a slow answer came does not credit it", "[lease-clock]") {
  Running running;
  running.clock.answered(answer(1'000ms, 3'000ms, false));
  running.clock.answered(answer(3'000ms, 3'100ms, true));
  CHECK(running.clock.valid_until() == at(lasts));
  running.clock.answered(answer(4'500ms, 4'600ms, true));
  CHECK(running.clock.valid_until() == at(1'000ms + lasts));
}

TEST_CASE("a reconnection counts with its first quorum result, and not before", "[lease-clock]") {
  Running running;
  running.clock.disconnected();
  running.clock.connected(connection(2, 5'000ms));
  CHECK(running.clock.valid_until() == at(lasts));
  running.clock.answered(answer(5'100ms, 5'110ms, false, 2));
  CHECK(running.clock.valid_until() == at(lasts));
  running.clock.answered(answer(5'200ms, 5'210ms, true, 2));
  CHECK(running.clock.valid_until() == at(5'000ms + lasts));
}

TEST_CASE("a new connection forgets what the one before it left uncredited", "[lease-clock]") {
  Running running;
  running.clock.answered(answer(3'000ms, 3'010ms, false));
  running.clock.disconnected();
  running.clock.connected(connection(2, 3'500ms));
  // Answers on the old connection do not count, however late they are read.
  running.clock.answered(answer(4'600ms, 4'610ms, true, 1));
  CHECK(running.clock.valid_until() == at(lasts));
  running.clock.answered(answer(9'000ms, 9'010ms, true, 2));
  CHECK(running.clock.valid_until() == at(3'500ms + lasts));
}

TEST_CASE("nothing counts while there is no connection", "[lease-clock]") {
  Running running;
  running.clock.answered(answer(1'000ms, 1'010ms, false));
  running.clock.disconnected();
  running.clock.answered(answer(5'000ms, 5'010ms, true));
  CHECK(running.clock.valid_until() == at(lasts));
}

TEST_CASE("the smallest timeout that was negotiated counts", "[lease-clock]") {
  Running running;
  running.clock.connected(connection(2, 1'000ms, 6'000ms));
  running.clock.answered(answer(1'100ms, 1'110ms, true, 2));
  CHECK(running.clock.valid_until() == at(1'000ms + 5'400ms));
  running.clock.connected(connection(3, 2'000ms, 20'000ms));
  running.clock.answered(answer(2'100ms, 2'110ms, true, 3));
  CHECK(running.clock.timeout() == 6'000ms);
  CHECK(running.clock.valid_until() == at(2'000ms + 5'400ms));
}

TEST_CASE("a clock needs a timeout of three touch intervals", "[lease-clock]") {
  LeaseClock clock{touch};
  clock.connected(connection(1, 0ms, 4'499ms));
  CHECK_FALSE(clock.can_run());
  LeaseClock enough{touch};
  enough.connected(connection(1, 0ms, 4'500ms));
  CHECK(enough.can_run());
}

TEST_CASE("the clock never goes back, and never runs ahead of what was sent", "[lease-clock]") {
  std::mt19937 random{7};
  for (int run = 0; run != 200; ++run) {
    Running running;
    auto now = 0ms;
    auto newest_sent = 0ms;
    std::uint64_t number = 1;
    Time before = running.clock.valid_until();
    for (int step = 0; step != 200; ++step) {
      now += std::chrono::milliseconds{random() % 400};
      if (random() % 20 == 0) {
        running.clock.disconnected();
        running.clock.connected(connection(++number, now));
      } else {
        newest_sent = now;
        const auto latency = std::chrono::milliseconds{random() % 50};
        running.clock.answered(answer(now, now + latency, random() % 3 == 0, number));
        now += latency;
      }
      CHECK(running.clock.valid_until() >= before);
      CHECK(running.clock.valid_until() <= at(std::max(newest_sent, now) + lasts));
      before = running.clock.valid_until();
    }
  }
}

// Beats alone keep the clock of a session running.

TEST_CASE("beats at the server's pace keep the clock comfortable, from the shortest timeout on",
          "[lease-clock]") {
  for (const auto negotiated : {4'500ms, 5'000ms, 6'000ms, 10'000ms, 30'000ms}) {
    for (const auto latency : {0ms, 2ms, 20ms}) {
      LeaseClock clock{touch};
      Heartbeat heartbeat;
      clock.connected(connection(1, 0ms, negotiated));
      heartbeat.connected(at(0ms), clock.timeout(), touch);
      auto smallest = clock.timeout();
      for (auto now = 0ms; now < 20 * negotiated; now += 1ms) {
        if (heartbeat.due(at(now))) {
          heartbeat.sent(at(now));
          clock.answered(answer(now, now + latency, true));
          heartbeat.answered();
        }
        smallest = std::min(smallest, clock.valid_until() - at(now));
      }
      INFO(negotiated.count() << " ms, answers after " << latency.count() << " ms");
      CHECK(smallest > negotiated / 3);
    }
  }
}

TEST_CASE("a beat is sent every sixth of the timeout, or a little more often", "[lease-clock]") {
  CHECK(Heartbeat::interval(30'000ms, touch) == 5'000ms);
  // A whole number of beats spans the touch interval and a tenth.
  CHECK(Heartbeat::interval(9'000ms, touch) == 825ms);
  CHECK(Heartbeat::interval(4'500ms, touch) == 550ms);
}

TEST_CASE("a beat without an answer for a quarter of the timeout tells of a silent server",
          "[lease-clock]") {
  Heartbeat heartbeat;
  CHECK(heartbeat.next() == Time::max());
  CHECK_FALSE(heartbeat.due(at(0ms)));
  heartbeat.connected(at(0ms), 12'000ms, touch);
  CHECK(heartbeat.next() == at(2'000ms));
  CHECK_FALSE(heartbeat.due(at(1'999ms)));
  CHECK(heartbeat.due(at(2'000ms)));
  heartbeat.sent(at(2'000ms));
  CHECK_FALSE(heartbeat.due(at(9'000ms)));
  CHECK(heartbeat.next() == at(5'000ms));
  CHECK_FALSE(heartbeat.silent(at(4'999ms)));
  CHECK(heartbeat.silent(at(5'000ms)));
  heartbeat.answered();
  CHECK_FALSE(heartbeat.silent(at(9'000ms)));
  CHECK(heartbeat.due(at(9'000ms)));
  heartbeat.sent(at(9'000ms));
  heartbeat.disconnected();
  CHECK_FALSE(heartbeat.silent(at(60'000ms)));
}

TEST_CASE("a server that still answers earlier requests is not silent", "[lease-clock]") {
  Heartbeat heartbeat;
  heartbeat.connected(at(0ms), 12'000ms, touch);
  heartbeat.sent(at(2'000ms));
  heartbeat.heard(at(4'000ms));
  CHECK_FALSE(heartbeat.silent(at(6'999ms)));
  CHECK(heartbeat.next() == at(7'000ms));
  CHECK(heartbeat.silent(at(7'000ms)));
}

TEST_CASE("a beat may be hurried, and never delayed", "[lease-clock]") {
  Heartbeat heartbeat;
  heartbeat.connected(at(0ms), timeout, touch);
  heartbeat.hurry(at(100ms));
  CHECK(heartbeat.due(at(100ms)));
  heartbeat.hurry(at(500ms));
  CHECK(heartbeat.next() == at(100ms));
}

}  // namespace custodian::tests::lease_clock_test
