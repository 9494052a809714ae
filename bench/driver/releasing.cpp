#include "releasing.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>

namespace custodian::bench {
namespace {

/// How long all waiters have to begin their waits. From outside nobody can see when they have
/// begun.
constexpr std::chrono::milliseconds to_arrive{200};

std::int64_t now() {
  return std::chrono::nanoseconds{std::chrono::steady_clock::now().time_since_epoch()}.count();
}

}  // namespace

void Releasing::run(std::int64_t deadline) {
  do {
    release_once();
  } while (now() < deadline);
}

void Releasing::release_once() {
  gates_.front()->close();
  std::vector<std::future<std::int64_t>> waiters;
  for (const auto& gate : gates_) {
    waiters.push_back(std::async(std::launch::async, [&gate] {
      gate->wait();
      return now();
    }));
  }
  std::this_thread::sleep_for(to_arrive);
  const std::int64_t opened = now();
  gates_.front()->open();
  std::int64_t last = 0;
  for (auto& waiter : waiters) {
    const std::int64_t time = waiter.get() - opened;
    if (time < 0) ++early_;
    times_.push_back(std::max<std::int64_t>(time, 0));
    last = std::max(last, time);
  }
  last_times_.push_back(last);
}

}  // namespace custodian::bench
