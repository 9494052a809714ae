#include "custodian/testing/fake_clock.hpp"

#include <utility>

#include "fake/timekeeper.hpp"

namespace custodian::testing {

FakeClock::FakeClock(std::chrono::milliseconds patience)
    : keeper_{std::make_shared<Timekeeper>(patience)} {}

FakeClock::~FakeClock() = default;

BootClock::time_point FakeClock::now() const noexcept { return keeper_->now(); }

std::unique_ptr<Clock::Alarm> FakeClock::make_alarm(Executors executors,
                                                    std::function<void()> ring) {
  return keeper_->make_alarm(std::move(executors), std::move(ring));
}

void FakeClock::advance(std::chrono::nanoseconds time) { keeper_->advance(time, nullptr); }

void FakeClock::advance(std::chrono::nanoseconds time, boost::asio::io_context& context) {
  keeper_->advance(time, &context);
}

void FakeClock::jump(std::chrono::nanoseconds time) { keeper_->jump(time); }

}  // namespace custodian::testing
