/// \file
/// The floor of HandOff::cohort, custodian-bench-threads SERVERS: it has no servers and no library,
/// only threads that hand over a lock in order of arrival, and sleep until their turn. SERVERS is
/// ignored.

#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "driver.hpp"

namespace custodian::bench {
namespace {

class Line {
 public:
  void enter() {
    std::unique_lock lock{mutex_};
    if (!std::exchange(held_, true)) return;
    const auto mine = std::make_shared<Sleeper>();
    waiting_.push_back(mine);
    lock.unlock();
    mine->sleep();
  }
  void leave() {
    std::unique_lock lock{mutex_};
    if (waiting_.empty()) {
      held_ = false;
      return;
    }
    const auto next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    next->wake();
  }

 private:
  /// Sleeps as the library's blocking calls do. The mutex is released before the notification, so
  /// that the thread that wakes up finds it free.
  class Sleeper {
   public:
    void sleep() {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [this] { return awake_; });
    }
    void wake() {
      {
        const std::scoped_lock lock{mutex_};
        awake_ = true;
      }
      changed_.notify_one();
    }

   private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool awake_ = false;
  };

  std::mutex mutex_;
  bool held_ = false;
  std::deque<std::shared_ptr<Sleeper>> waiting_;
};

class InLine final : public Locker {
 public:
  explicit InLine(Line& line) : line_{&line} {}
  void lock() override { line_->enter(); }
  void unlock() override { line_->leave(); }

 private:
  Line* line_;
};

class Threads final : public Contestant {
 public:
  std::unique_ptr<Locker> locker(const Task& task, int /*index*/) override {
    if (task.write_every > 0 || task.work != "cycle") throw std::logic_error{"a mutex, in cycles"};
    return std::make_unique<InLine>(line_);
  }

 private:
  Line line_;
};

}  // namespace
}  // namespace custodian::bench

int main() {
  custodian::bench::Threads contestant;
  return custodian::bench::serve(contestant);
}
