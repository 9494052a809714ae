#include "row.hpp"

#include <chrono>

namespace custodian::bench {
namespace {

std::int64_t now() {
  return std::chrono::nanoseconds{std::chrono::steady_clock::now().time_since_epoch()}.count();
}

}  // namespace

Row::Row(std::vector<std::unique_ptr<Locker>>& lockers) {
  for (auto& locker : lockers) threads_.emplace_back([this, &locker] { stand(*locker); });
}

Row::~Row() {
  {
    const std::scoped_lock guard{mutex_};
    permitted_ = static_cast<int>(threads_.size());
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

void Row::wait_held() {
  std::unique_lock guard{mutex_};
  changed_.wait(guard, [this] { return held_ > 0 || error_; });
  if (error_) std::rethrow_exception(error_);
}

std::string Row::release() {
  std::unique_lock guard{mutex_};
  changed_.wait(guard, [this] { return held_ > released_ || error_; });
  const int before = held_;
  const std::string who = holder_;
  ++permitted_;
  changed_.notify_all();
  changed_.wait(guard, [&] { return held_ > before || error_; });
  if (error_) std::rethrow_exception(error_);
  return who;
}

std::vector<std::int64_t> Row::handovers() const {
  const std::scoped_lock guard{mutex_};
  return handovers_;
}

void Row::stand(Locker& locker) {
  try {
    locker.lock();
    const std::int64_t held_at = now();
    std::unique_lock guard{mutex_};
    if (released_ > 0) handovers_.push_back(held_at - released_at_);
    holder_ = locker.session();
    ++held_;
    changed_.notify_all();
    changed_.wait(guard, [this] { return permitted_ > released_; });
    ++released_;
    released_at_ = now();
    guard.unlock();
    locker.unlock();
  } catch (...) {
    const std::scoped_lock guard{mutex_};
    error_ = std::current_exception();
    changed_.notify_all();
  }
}

}  // namespace custodian::bench
