#include "counting.hpp"

#include <chrono>
#include <cstdlib>
#include <future>
#include <utility>

namespace custodian::bench {
namespace {

std::int64_t now() {
  return std::chrono::nanoseconds{std::chrono::steady_clock::now().time_since_epoch()}.count();
}

std::vector<std::int64_t> add_until(Counter& counter, std::int64_t deadline) {
  std::vector<std::int64_t> times;
  times.reserve(1 << 16);
  for (std::int64_t begin = now(); begin < deadline;) {
    counter.add();
    const std::int64_t end = now();
    times.push_back(end - begin);
    begin = end;
  }
  return times;
}

}  // namespace

Counting::Counting(std::vector<std::unique_ptr<Counter>> counters)
    : counters_{std::move(counters)}, before_{counters_.at(0)->value()} {}

void Counting::run(std::int64_t deadline) {
  if (counters_.size() == 1) {
    times_ = add_until(*counters_.front(), deadline);
    return;
  }
  std::vector<std::future<std::vector<std::int64_t>>> threads;
  for (const auto& counter : counters_) {
    threads.push_back(std::async(std::launch::async,
                                 [&counter, deadline] { return add_until(*counter, deadline); }));
  }
  for (auto& thread : threads) {
    const std::vector<std::int64_t> more = thread.get();
    times_.insert(times_.end(), more.begin(), more.end());
  }
}

std::int64_t Counting::error() {
  return std::abs(counters_.front()->value() - before_ - static_cast<std::int64_t>(times_.size()));
}

}  // namespace custodian::bench
