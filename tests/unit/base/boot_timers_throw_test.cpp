// Timers whose actions throw, and timers that their own strand cancels.

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/boot_timers.hpp"
#include "custodian/testing/fake_clock.hpp"
#include "support/catch.hpp"

namespace custodian::tests::boot_timers_throw_test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using detail::BootTimer;
using detail::BootTimers;

/// Timers on the machine's clock, with a timerfd or without.
struct World {
  explicit World(bool with_descriptor) {
    if (with_descriptor) REQUIRE_FALSE(timers->open());
  }
  void on_strand(std::function<void()> function) { asio::post(strand, std::move(function)); }
  /// Runs the context to its end, and returns how many actions have thrown.
  int run() {
    for (int thrown = 0;; ++thrown) {
      try {
        context.restart();
        context.run_for(30s);
        return thrown;
      } catch (const std::runtime_error&) {
        REQUIRE(thrown < 10);
      }
    }
  }

  asio::io_context context{1};
  BootTimers::Strand strand{context.get_executor()};
  std::shared_ptr<BootTimers> timers = std::make_shared<BootTimers>(strand);
};

TEST_CASE("an action that throws stops no other one", "[boot_timers]") {
  World world{GENERATE(true, false)};
  BootTimer bad{world.timers};
  BootTimer good{world.timers};
  BootTimer later{world.timers};
  std::string order;
  world.on_strand([&] {
    const auto now = BootClock::now();
    bad.set(now, [&] {
      order += 'b';
      throw std::runtime_error{"bad"};
    });
    good.set(now + 1ns, [&] { order += 'g'; });
    later.set(now + 20ms, [&] { order += 'l'; });
  });
  CHECK(world.run() == 1);
  CHECK(world.context.stopped());
  CHECK(order == "bgl");
}

TEST_CASE("an action that throws stops no other one of a clock", "[boot_timers]") {
  const auto clock = std::make_shared<testing::FakeClock>(20s);
  asio::io_context context{1};
  const BootTimers::Strand strand{context.get_executor()};
  const auto timers = std::make_shared<BootTimers>(strand, clock, context.get_executor());
  REQUIRE_FALSE(timers->open());
  BootTimer bad{timers};
  BootTimer good{timers};
  std::string order;
  const auto begin = clock->now();
  bad.set(begin + 1s, [&] {
    order += 'b';
    throw std::runtime_error{"bad"};
  });
  good.set(begin + 2s, [&] { order += 'g'; });
  CHECK_THROWS_AS(clock->advance(1s, context), std::runtime_error);
  CHECK(order == "b");
  clock->advance(1s, context);
  CHECK(order == "bg");
}

TEST_CASE("the last timer that is cancelled on its strand leaves the context without work",
          "[boot_timers]") {
  World world{GENERATE(true, false)};
  BootTimer timer{world.timers};
  bool happened = false;
  world.on_strand([&] { timer.set(BootClock::now() + 1h, [&] { happened = true; }); });
  world.on_strand([&] { timer.cancel(); });
  CHECK(world.run() == 0);
  CHECK(world.context.stopped());
  // The timer can be set again.
  world.on_strand([&] { timer.set(BootClock::now() + 1ms, [&] { happened = true; }); });
  CHECK(world.run() == 0);
  CHECK(happened);
}

TEST_CASE("a timer that is set to an earlier time, or to a later one, rings then",
          "[boot_timers]") {
  World world{GENERATE(true, false)};
  BootTimer timer{world.timers};
  BootTimer other{world.timers};
  std::string order;
  world.on_strand([&] {
    timer.set(BootClock::now() + 1h, [&] { order += 'x'; });
    other.set(BootClock::now() + 1ms, [&] { order += 'x'; });
    timer.set(BootClock::now() + 1ms, [&] { order += 't'; });
    other.set(BootClock::now() + 30ms, [&] { order += 'o'; });
  });
  CHECK(world.run() == 0);
  CHECK(world.context.stopped());
  CHECK(order == "to");
}

}  // namespace
}  // namespace custodian::tests::boot_timers_throw_test
