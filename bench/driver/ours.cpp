/// \file
/// Custodian's contestant: custodian-bench-ours SERVERS.

#include <condition_variable>
#include <iomanip>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "custodian/client.hpp"
#include "custodian/recipes/inter_process_mutex.hpp"
#include "custodian/recipes/inter_process_read_write_lock.hpp"
#include "driver.hpp"

namespace custodian::bench {
namespace {

using Clock = std::chrono::steady_clock;
using ClientPtr = std::shared_ptr<Client>;

ClientPtr connect(const std::string& servers) {
  // As long as the other ZooKeeper clients' sessions.
  return std::make_shared<Client>(
      ClientOptions{.servers = servers, .session_timeout = std::chrono::seconds{30}});
}

std::string hexadecimal(std::int64_t number) {
  std::ostringstream text;
  text << std::hex << static_cast<std::uint64_t>(number);
  return text.str();
}

/// A thread and the lease face. Each thread has its lock object, as two parts of a program have.
class Ours final : public Locker {
 public:
  Ours(ClientPtr client, const Task& task) : client_{std::move(client)} {
    if (task.write_every > 0) {
      both_.emplace(*client_, task.path);
    } else {
      mutex_.emplace(*client_, task.path);
    }
  }
  void lock() override { lease_ = both_ ? both_->write().acquire() : mutex_->acquire(); }
  void unlock() override { lease_.release(); }
  void lock_shared() override { lease_ = both_->read().acquire(); }
  void unlock_shared() override { lease_.release(); }
  [[nodiscard]] std::string session() const override { return hexadecimal(client_->session().id); }

 private:
  ClientPtr client_;
  std::optional<InterProcessMutex> mutex_;
  std::optional<InterProcessReadWriteLock> both_;
  Lease lease_;
};

/// All who wait for the lock have it in turn, and let go at once, on the client's thread for
/// callbacks.
class Crowd {
 public:
  Crowd(InterProcessMutex& mutex, SharedPage& page, int size)
      : mutex_{&mutex}, page_{&page}, size_{size} {}

  void stand(int number) {
    mutex_->async_acquire([this, number](error_code error, Lease lease) {
      const std::scoped_lock guard{state_};
      if (error && !error_) error_ = error;
      if (number != had_) in_order_ = false;
      if (!page_->enter(number + 1) || !page_->leave(number + 1, 0)) ++violations_;
      ++had_;
      lease.release();
      if (had_ == size_) changed_.notify_all();
    });
  }
  void wait() {
    std::unique_lock guard{state_};
    changed_.wait(guard, [this] { return had_ == size_; });
    if (error_) throw std::runtime_error{"a waiter: " + error_.message()};
  }
  [[nodiscard]] bool in_order() const { return in_order_; }
  [[nodiscard]] int violations() const { return violations_; }

 private:
  InterProcessMutex* mutex_;
  SharedPage* page_;
  const int size_;
  std::mutex state_;
  std::condition_variable changed_;
  error_code error_;
  int had_ = 0;
  int violations_ = 0;
  bool in_order_ = true;
};

double seconds_since(Clock::time_point time) {
  return std::chrono::duration<double>{Clock::now() - time}.count();
}

class Custodian final : public Contestant {
 public:
  explicit Custodian(std::string servers) : servers_{std::move(servers)} {}

  std::unique_ptr<Locker> locker(const Task& task, int index) override {
    if (task.work == "start") return std::make_unique<Ours>(connect(task.servers), task);
    const auto session = static_cast<std::size_t>(index % task.sessions);
    while (clients_.size() <= session) {
      clients_.push_back(connect(servers_));
      clients_.back()->wait_connected();
    }
    return std::make_unique<Ours>(clients_[session], task);
  }

  Drain drain(const Task& task) override {
    const ClientPtr client = connect(servers_);
    InterProcessMutex mutex{*client, task.path};
    SharedPage page{task.counter};
    Crowd crowd{mutex, page, task.waiters};
    Lease first = mutex.acquire();
    Drain drain;
    const std::int64_t before = resident_bytes();
    auto begin = Clock::now();
    for (int i = 0; i < task.waiters; ++i) crowd.stand(i);
    while (client->exists(task.path).value().child_count <= task.waiters) {
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    drain.queue_seconds = seconds_since(begin);
    drain.memory_bytes = resident_bytes() - before;
    begin = Clock::now();
    first.release();
    crowd.wait();
    drain.drain_seconds = seconds_since(begin);
    drain.queued = task.waiters;
    drain.in_order = crowd.in_order();
    drain.violations = crowd.violations();
    return drain;
  }

 private:
  const std::string servers_;
  std::vector<ClientPtr> clients_;
};

}  // namespace
}  // namespace custodian::bench

int main(int argc, char* argv[]) {
  if (argc != 2) return 2;
  custodian::bench::Custodian contestant{argv[1]};
  return custodian::bench::serve(contestant);
}
