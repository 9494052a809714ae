#include "base/boot_timers.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "custodian/testing/fake_clock.hpp"
#include "support/catch.hpp"

namespace custodian::detail::boot_timers_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

using Time = TimerQueue::Time;

Time at(int milliseconds) { return Time{std::chrono::milliseconds{milliseconds}}; }

/// Takes all timers that are due, and returns their keys.
std::string taken(TimerQueue& queue, Time now) {
  std::string keys;
  for (const auto& each : queue.due(now)) {
    if (const auto action = queue.take(each)) keys += *static_cast<const char*>(each.second);
  }
  return keys;
}

TEST_CASE("what is due is due in the order of time, and once", "[boot_timers]") {
  const std::string keys = "abc";
  TimerQueue queue;
  CHECK_FALSE(queue.next());
  const auto nothing = [] {};
  queue.set(&keys[0], at(30), nothing);
  queue.set(&keys[1], at(10), nothing);
  queue.set(&keys[2], at(20), nothing);
  CHECK(queue.next() == at(10));
  CHECK(taken(queue, at(9)).empty());
  CHECK(taken(queue, at(20)) == "bc");
  CHECK(queue.next() == at(30));
  CHECK(taken(queue, at(20)).empty());
  CHECK(taken(queue, at(99)) == "a");
  CHECK(queue.empty());
}

TEST_CASE("what is set anew or cancelled does not happen as it was", "[boot_timers]") {
  const std::string keys = "ab";
  TimerQueue queue;
  const auto kept = std::make_shared<int>(1);
  queue.set(&keys[0], at(10), [kept] {});
  const auto due = queue.due(at(10));
  // The timer is set anew between due(), which has reported it, and take().
  const auto earlier = queue.set(&keys[0], at(50), [] {});
  CHECK(earlier);
  CHECK_FALSE(queue.take(due.front()));
  CHECK(queue.next() == at(50));
  CHECK(queue.cancel(&keys[0]));
  CHECK_FALSE(queue.cancel(&keys[0]));
  CHECK_FALSE(queue.cancel(&keys[1]));
  CHECK_FALSE(queue.next());
}

/// Timers of one strand, with a descriptor or without.
struct Timers {
  explicit Timers(bool with_descriptor) {
    if (with_descriptor) REQUIRE_FALSE(timers->open());
  }
  /// Runs the function on the strand, where a client uses its timers.
  void on_strand(std::function<void()> function) { asio::post(strand, std::move(function)); }

  asio::io_context context{1};
  BootTimers::Strand strand{context.get_executor()};
  std::shared_ptr<BootTimers> timers = std::make_shared<BootTimers>(strand);
};

TEST_CASE("timers run what is due, and leave the context without work", "[boot_timers]") {
  const bool with_descriptor = GENERATE(true, false);
  Timers world{with_descriptor};
  BootTimer first{world.timers};
  BootTimer second{world.timers};
  std::string order;
  world.on_strand([&] {
    const Time now = BootClock::now();
    second.set(now + 20ms, [&] { order += '2'; });
    first.set(now + 10ms, [&, now] {
      order += '1';
      // A time that has passed is due at once, but after the handlers that wait already.
      first.set(now, [&] { order += 'x'; });
    });
  });
  // run_for() returns early if nothing keeps the context alive.
  world.context.run_for(30s);
  CHECK(world.context.stopped());
  CHECK(order.size() == 3);
  CHECK(order.starts_with('1'));
}

TEST_CASE("a timer that is cancelled, or destroyed, on any thread holds no context",
          "[boot_timers]") {
  const bool with_descriptor = GENERATE(true, false);
  Timers world{with_descriptor};
  auto timer = std::make_unique<BootTimer>(world.timers);
  BootTimer other{world.timers};
  bool happened = false;
  world.on_strand([&] {
    timer->set(BootClock::now() + 1h, [&] { happened = true; });
    other.set(BootClock::now() + 1h, [&] { happened = true; });
    other.cancel();
  });
  world.on_strand([&] { std::thread{[&] { timer.reset(); }}.join(); });
  world.context.run_for(30s);
  CHECK(world.context.stopped());
  CHECK_FALSE(happened);
}

TEST_CASE("without a descriptor to be had timers say so, and go on", "[boot_timers]") {
  Timers world{false};
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const error_code error = world.timers->open();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(error == boost::system::errc::too_many_files_open);
  BootTimer timer{world.timers};
  bool happened = false;
  world.on_strand([&] { timer.set(BootClock::now() + 1ms, [&] { happened = true; }); });
  world.context.run_for(30s);
  CHECK(happened);
}

/// Timers on a clock that the test moves.
struct ClockedTimers {
  ClockedTimers() { REQUIRE_FALSE(timers->open()); }
  void advance(std::chrono::nanoseconds time) { clock->advance(time, context); }

  std::shared_ptr<testing::FakeClock> clock = std::make_shared<testing::FakeClock>(20s);
  asio::io_context context{1};
  BootTimers::Strand strand{context.get_executor()};
  std::shared_ptr<BootTimers> timers =
      std::make_shared<BootTimers>(strand, clock, context.get_executor());
};

TEST_CASE("timers go by the clock that they are given, to the nanosecond", "[boot_timers]") {
  ClockedTimers world;
  BootTimer first{world.timers};
  BootTimer second{world.timers};
  const Time begin = world.clock->now();
  std::vector<std::pair<char, Time>> rung;
  second.set(begin + 2h, [&] { rung.emplace_back('2', world.clock->now()); });
  first.set(begin + 1h, [&] {
    rung.emplace_back('1', world.clock->now());
    first.set(begin + 90min, [&] { rung.emplace_back('x', world.clock->now()); });
  });
  world.advance(1h - 1ns);
  CHECK(rung.empty());
  world.advance(1ns);
  CHECK(rung.size() == 1);
  world.advance(24h);
  CHECK(rung == std::vector{std::pair{'1', begin + 1h}, std::pair{'x', begin + 90min},
                            std::pair{'2', begin + 2h}});
  CHECK(world.clock->now() == begin + 25h);
}

TEST_CASE("a timer of a clock that was cancelled, or is another by now, does not ring",
          "[boot_timers]") {
  ClockedTimers world;
  auto timer = std::make_unique<BootTimer>(world.timers);
  BootTimer other{world.timers};
  const Time begin = world.clock->now();
  std::string rung;
  timer->set(begin + 1s, [&] { rung += 'a'; });
  other.set(begin + 1s, [&] { rung += 'b'; });
  other.set(begin + 3s, [&] { rung += 'c'; });
  std::thread{[&] { timer.reset(); }}.join();
  world.advance(2s);
  CHECK(rung.empty());
  world.advance(1s);
  CHECK(rung == "c");
  // A time that has passed is due at once.
  other.set(begin, [&] { rung += 'd'; });
  world.advance(0s);
  CHECK(rung == "cd");
}

TEST_CASE("an alarm of a clock keeps its context running until it has rung", "[boot_timers]") {
  ClockedTimers world;
  BootTimer timer{world.timers};
  bool rung = false;
  timer.set(world.clock->now() + 1h, [&] { rung = true; });
  std::atomic<bool> ended = false;
  std::thread runner{[&] {
    world.context.run();
    ended = true;
  }};
  std::this_thread::sleep_for(20ms);
  CHECK_FALSE(ended);
  // advance() would wait for a context that runs no more.
  world.clock->jump(1h);
  runner.join();
  CHECK(rung);
  timer.set(world.clock->now() + 1h, [&] { rung = false; });
  timer.cancel();
  world.context.restart();
  world.context.run();
  CHECK(rung);
}

}  // namespace
}  // namespace custodian::detail::boot_timers_test
