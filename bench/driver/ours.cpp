/// \file
/// Custodian's contestants: custodian-bench-ours threads|context|once SERVERS.
///
/// threads  a client with threads of its own, and the blocking face
/// context  all work on one thread, in the program's io_context
/// once     as threads; additions count exactly once

#include <malloc.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <future>
#include <iomanip>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "custodian/atomics/distributed_atomic_long.hpp"
#include "custodian/barriers/distributed_barrier.hpp"
#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "driver.hpp"

namespace custodian::bench {
namespace {

using Clock = std::chrono::steady_clock;
using ClientPtr = std::shared_ptr<Client>;

ClientPtr connect(const std::string& servers) {
  // All ZooKeeper clients of the benchmark have this session timeout.
  return std::make_shared<Client>(
      ClientOptions{.servers = servers, .session_timeout = std::chrono::seconds{30}});
}

std::string hexadecimal(std::int64_t number) {
  std::ostringstream text;
  text << std::hex << static_cast<std::uint64_t>(number);
  return text.str();
}

LockOptions lock_options(const Task& task) {
  LockOptions options;
  if (task.passes > 0) options.hand_off = HandOff::cohort(task.passes);
  if (task.keep) options.keep_idle_for = std::chrono::minutes{1};
  options.share_readers = task.share;
  return options;
}

/// A contender that uses blocking calls and leases. Each thread has a lock object of its own, as
/// the parts of a program would.
class Ours final : public Locker {
 public:
  Ours(ClientPtr client, const Task& task) : client_{std::move(client)} {
    if (task.write_every > 0) {
      both_.emplace(*client_, task.path, lock_options(task));
    } else {
      mutex_.emplace(*client_, task.path, lock_options(task));
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

/// The counter of one thread. All threads have copies of one handle.
class OurCounter final : public Counter {
 public:
  explicit OurCounter(DistributedAtomicLong number) : number_{std::move(number)} {}
  void add() override { ++number_; }
  [[nodiscard]] std::int64_t value() override { return number_.fetch_add(0).before.value; }

 private:
  DistributedAtomicLong number_;
};

/// A waiter at a barrier.
class OurGate final : public Gate {
 public:
  OurGate(const Client& client, const std::string& path) : barrier_{client, path} {}
  void close() override { barrier_.set(); }
  void open() override { barrier_.remove(); }
  void wait() override { barrier_.wait(); }

 private:
  DistributedBarrier barrier_;
};

/// A contender whose only thread runs the client while it waits for the lock.
class OnContext final : public Locker {
 public:
  OnContext(const std::string& servers, const Task& task)
      : client_{context_.get_executor(),
                ClientOptions{.servers = servers, .session_timeout = std::chrono::seconds{30}}},
        mutex_{client_, task.path, lock_options(task)} {}
  OnContext(const OnContext&) = delete;
  OnContext& operator=(const OnContext&) = delete;
  ~OnContext() override {
    lease_.release();
    client_.close();
    context_.run();
  }
  void lock() override {
    bool done = false;
    error_code failure;
    mutex_.async_acquire([&](error_code error, Lease lease) {
      failure = error;
      lease_ = std::move(lease);
      done = true;
    });
    while (!done) context_.run_one();
    if (failure) throw std::runtime_error{"acquire: " + failure.message()};
  }
  void unlock() override {
    lease_.release();
    context_.poll();
  }
  [[nodiscard]] std::string session() const override { return hexadecimal(client_.session().id); }

 private:
  boost::asio::io_context context_;
  Client client_;
  InterProcessMutex mutex_;
  Lease lease_;
};

/// Waiters that get the lock one after another, each on the client's callback thread, and release
/// it at once.
class Crowd {
 public:
  Crowd(SharedPage& page, int size) : page_{&page}, size_{size} {}

  void stand(InterProcessMutex& mutex, int number) {
    mutex.async_acquire([this, number](error_code error, Lease lease) {
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

/// Calls `work` with each number below `count`, on several threads. Rethrows an exception of one of
/// them.
template <typename Work>
void share(int count, const Work& work) {
  std::vector<std::future<void>> threads;
  for (int first = 0; first < std::min(count, threads_of_holding); ++first) {
    threads.push_back(std::async(std::launch::async, [first, count, &work] {
      for (int i = first; i < count; i += threads_of_holding) work(i);
    }));
  }
  for (auto& thread : threads) thread.get();
}

/// The bytes that are allocated on the heap. Resident memory would not show them all, since an
/// allocation first uses free space in resident pages.
std::int64_t bytes_in_use() {
  const struct mallinfo2 heap = ::mallinfo2();
  return static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
}

/// The additional locks that a client holds, each at a path of its own.
class HeldLocks {
 public:
  HeldLocks(ClientPtr client, std::string below, int count)
      : client_{std::move(client)}, below_{std::move(below)}, count_{count} {
    // The locks' parents are persistent nodes: the servers would remove containers before some
    // rounds and not before others.
    share(count, [this](int i) {
      try {
        client_->create(path(i), {}, {.parents = Parents::created_as_containers});
      } catch (const Error& exists) {
        if (exists.code() != ServerErrc::node_exists) throw;
      }
    });
  }

  Holding acquire() {
    const std::int64_t before = bytes_in_use();
    const auto begin = Clock::now();
    locks_.resize(static_cast<std::size_t>(count_));
    share(count_, [this](int i) {
      auto lock = std::make_unique<Held>(*client_, path(i));
      lock->lease = lock->mutex.acquire();
      locks_[static_cast<std::size_t>(i)] = std::move(lock);
    });
    Holding holding;
    holding.seconds = seconds_since(begin);
    holding.memory_bytes = bytes_in_use() - before;
    return holding;
  }

  double release() {
    const auto begin = Clock::now();
    share(count_, [this](int i) { locks_[static_cast<std::size_t>(i)]->lease.release(); });
    // The releases did not wait for the deletes. Each thread's last lock is deleted after its other
    // locks, so the loop waits for these.
    for (int i = std::max(0, count_ - threads_of_holding); i < count_; ++i) {
      while (client_->exists(path(i)).value().child_count > 0)
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return seconds_since(begin);
  }

 private:
  struct Held {
    Held(const Client& client, const std::string& path) : mutex{client, path} {}
    InterProcessMutex mutex;
    Lease lease;
  };

  [[nodiscard]] std::string path(int number) const { return below_ + "/" + std::to_string(number); }

  ClientPtr client_;
  const std::string below_;
  const int count_;
  std::vector<std::unique_ptr<Held>> locks_;
};

enum class Way { threads, context, once };

class Custodian final : public Contestant {
 public:
  Custodian(Way way, std::string servers) : way_{way}, servers_{std::move(servers)} {}

  std::unique_ptr<Locker> locker(const Task& task, int index) override {
    if (way_ == Way::context) return on_context(task);
    if (task.work == "start") return std::make_unique<Ours>(connect(task.servers), task);
    return std::make_unique<Ours>(client(static_cast<std::size_t>(index % task.sessions)), task);
  }

  std::unique_ptr<Counter> counter(const Task& task, int index) override {
    if (index == 0) {
      const Settle settle = way_ == Way::once ? Settle::exactly_once : Settle::left_to_caller;
      number_.emplace(*client(0), task.path, UpdateOptions{.settle = settle});
    }
    return std::make_unique<OurCounter>(number_.value());
  }

  std::unique_ptr<Gate> gate(const Task& task, int index) override {
    const ClientPtr mine = client(static_cast<std::size_t>(index % task.sessions));
    return std::make_unique<OurGate>(*mine, task.path);
  }

  Drain drain(const Task& task) override {
    // The client is destroyed before the crowd and the page; this ends the remaining waiters.
    SharedPage page{task.counter};
    Crowd crowd{page, task.waiters};
    const ClientPtr client = connect(servers_);
    InterProcessMutex mutex{*client, task.path};
    Lease first = mutex.acquire();
    Drain drain;
    ::malloc_trim(0);
    const std::int64_t resident = resident_bytes();
    const std::int64_t in_use = bytes_in_use();
    auto begin = Clock::now();
    for (int i = 0; i < task.waiters; ++i) crowd.stand(mutex, i);
    while (client->exists(task.path, {.deadline = std::chrono::minutes{2}}).value().child_count <=
           task.waiters) {
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    drain.queue_seconds = seconds_since(begin);
    drain.peak_bytes = resident_bytes() - resident;
    drain.memory_bytes = bytes_in_use() - in_use;
    begin = Clock::now();
    first.release();
    crowd.wait();
    drain.drain_seconds = seconds_since(begin);
    drain.queued = task.waiters;
    drain.in_order = crowd.in_order();
    drain.violations = crowd.violations();
    return drain;
  }

  Holding hold(const Task& task) override {
    held_.reset();
    return held_.emplace(clients_.at(0), task.path + "-held", task.locks).acquire();
  }
  double let_go() override {
    const double seconds = held_.value().release();
    held_.reset();
    return seconds;
  }

 private:
  ClientPtr client(std::size_t session) {
    while (clients_.size() <= session) {
      clients_.push_back(connect(servers_));
      clients_.back()->wait_connected();
    }
    return clients_[session];
  }

  [[nodiscard]] std::unique_ptr<Locker> on_context(const Task& task) const {
    if (task.threads > 1 || task.write_every > 0) throw std::logic_error{"one thread, a mutex"};
    if (task.work == "start") return std::make_unique<OnContext>(task.servers, task);
    auto locker = std::make_unique<OnContext>(servers_, task);
    // The client connects here, so that the time of connecting is not measured.
    locker->lock();
    locker->unlock();
    return locker;
  }

  const Way way_;
  const std::string servers_;
  std::vector<ClientPtr> clients_;
  std::optional<HeldLocks> held_;
  std::optional<DistributedAtomicLong> number_;
};

Way way_of(std::string_view word) {
  if (word == "context") return Way::context;
  return word == "once" ? Way::once : Way::threads;
}

}  // namespace
}  // namespace custodian::bench

int main(int argc, char* argv[]) {
  if (argc != 3) return 2;
  custodian::bench::Custodian contestant{custodian::bench::way_of(argv[1]), argv[2]};
  return custodian::bench::serve(contestant);
}
