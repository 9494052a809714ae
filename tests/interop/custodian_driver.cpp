/// \file
/// Our locks, controlled by the commands of driver.hpp: custodian-interop-driver SERVERS NAMES.
/// NAMES is the profile, "curator" or "kazoo".

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "addition_commands.hpp"
#include "buffer_commands.hpp"
#include "custodian/barriers/distributed_barrier.hpp"
#include "custodian/client.hpp"
#include "custodian/inspect/revoke.hpp"
#include "custodian/leader/leader_latch.hpp"
#include "custodian/leader/leader_selector.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"
#include "custodian/shared/shared_count.hpp"
#include "history.hpp"
#include "party_commands.hpp"

namespace custodian::tests {
namespace {

void say(const std::string& line) {
  static std::mutex saying;
  const std::scoped_lock guard{saying};
  std::cout << line << '\n' << std::flush;
}

std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

void add_one(const std::string& file) {
  long value = 0;
  if (!(std::ifstream{file} >> value)) throw std::runtime_error{"cannot read " + file};
  if (!(std::ofstream{file} << value + 1 << '\n' << std::flush))
    throw std::runtime_error{"cannot write " + file};
}

/// Appends a hold, which ends now, to the history.
void write_down(const std::string& directory, demo::Hold hold, const Lease& lease) {
  hold.token = lease.token().value;
  hold.node = lease.node();
  std::ofstream history{directory + "/history", std::ios::app};
  hold.out = now();
  if (!(history << to_line(hold) << std::flush)) throw std::runtime_error{"cannot write history"};
}

/// The common interface of all kinds of locks.
class Lock {
 public:
  virtual ~Lock() = default;
  virtual void lock() = 0;
  [[nodiscard]] virtual bool try_lock() = 0;
  virtual void unlock() = 0;
  [[nodiscard]] virtual Lease current_lease() const = 0;
};

template <typename Kind>
class LockOf final : public Lock {
 public:
  explicit LockOf(std::shared_ptr<Kind> kind) : kind_{std::move(kind)} {}
  void lock() override { kind_->lock(); }
  bool try_lock() override { return kind_->try_lock(); }
  void unlock() override { kind_->unlock(); }
  [[nodiscard]] Lease current_lease() const override { return kind_->current_lease(); }

 private:
  std::shared_ptr<Kind> kind_;
};

/// Acquires and releases `number` permits of a semaphore together.
class Permits final : public Lock {
 public:
  Permits(InterProcessSemaphore semaphore, int number)
      : semaphore_{std::move(semaphore)}, number_{number} {}
  void lock() override { held_.push_back(semaphore_.acquire(number_)); }
  bool try_lock() override {
    std::vector<Lease> leases = semaphore_.try_acquire(number_).permits;
    if (leases.empty()) return false;
    held_.push_back(std::move(leases));
    return true;
  }
  void unlock() override { held_.pop_front(); }
  [[nodiscard]] Lease current_lease() const override { return held_.back().front().share(); }

 private:
  InterProcessSemaphore semaphore_;
  const int number_;
  std::deque<std::vector<Lease>> held_;
};

/// A client with a thread of its own. The thread holds the locks by their standard interface, as
/// Curator's locks belong to threads.
class Session {
 public:
  Session(std::string name, ClientOptions options, NamingProfile profile)
      : name_{std::move(name)}, options_{std::move(options)}, profile_{profile} {
    std::thread{[this] { run(); }}.detach();
  }

  void tell(std::string command) {
    const std::scoped_lock guard{mutex_};
    commands_.push_back(std::move(command));
    changed_.notify_one();
  }

 private:
  [[noreturn]] void run() {
    for (;;) {
      try {
        say(name_ + " ok " + obey(next()));
      } catch (const std::exception& error) {
        say(name_ + " error " + error.what());
      }
    }
  }

  std::string next() {
    std::unique_lock guard{mutex_};
    changed_.wait(guard, [this] { return !commands_.empty(); });
    std::string command = std::move(commands_.front());
    commands_.pop_front();
    return command;
  }

  std::string obey(const std::string& command) {
    std::istringstream words{command};
    std::string what;
    words >> what;
    if (what == "connect") {
      int timeout = 0;
      words >> timeout;
      return connect(std::chrono::milliseconds{timeout});
    }
    if (what == "lead") return lead(words);
    if (what == "tally") return tally(*client_, words);
    if (what == "produce" || what == "consume") use_buffer(*client_, what, words);
    if (what == "visit") {
      visit(words);
    } else if (what == "count") {
      count(words);
    } else if (what == "add") {
      add(*client_, words);
    } else if (what == "await-count") {
      await_count(words);
    } else if (what == "set-barrier" || what == "remove-barrier" || what == "await-barrier") {
      use_barrier(what, words);
    } else if (what == "enter" || what == "leave" || what == "attend") {
      parties_.obey(*client_, what, words);
    } else if (what == "await-revocation") {
      std::unique_lock guard{mutex_};
      changed_.wait(guard, [this] { return revocations_ > 0; });
      --revocations_;
    } else {
      return obey(what, words);
    }
    return {};
  }

  /// Does a command that there is for all kinds of locks.
  std::string obey(const std::string& what, std::istream& words) {
    std::string kind;
    std::string path;
    words >> kind >> path;
    Lock& chosen = lock(kind, path);
    if (what == "acquire") {
      chosen.lock();
    } else if (what == "acquire-revocable") {
      chosen.lock();
      revocable_.push_back(chosen.current_lease().make_revocable([this] {
        const std::scoped_lock guard{mutex_};
        ++revocations_;
        changed_.notify_all();
      }));
    } else if (what == "revoke") {
      const auto participants =
          kind == "mutex" ? InterProcessMutex{*client_, path}.participants()
                          : InterProcessReadWriteLock{*client_, path}.write().participants();
      revoke(*client_, participants.at(0).node);
    } else if (what == "try") {
      return chosen.try_lock() ? "yes" : "no";
    } else if (what == "release") {
      chosen.unlock();
    } else if (what == "increment") {
      int times = 0;
      std::string directory;
      demo::Hold hold;
      words >> times >> directory >> hold.process;
      for (int i = 0; i < times; ++i) increment(chosen, directory, hold);
    } else {
      throw std::invalid_argument{what};
    }
    return {};
  }

  std::string connect(std::chrono::milliseconds timeout) {
    ClientOptions options = options_;
    options.session_timeout = timeout;
    options.touch_interval = std::min(options.touch_interval, timeout / 4);
    client_.emplace(std::move(options));
    client_->wait_connected();
    return std::to_string(client_->session().id);
  }

  Lock& lock(const std::string& kind, const std::string& path) {
    std::unique_ptr<Lock>& lock = locks_[{kind, path}];
    if (!lock) lock = make_lock(kind, path);
    return *lock;
  }

  std::unique_ptr<Lock> make_lock(const std::string& kind, const std::string& path) {
    const LockOptions options{.profile = profile_};
    if (kind == "mutex") {
      return std::make_unique<LockOf<InterProcessMutex>>(
          std::make_shared<InterProcessMutex>(*client_, path, options));
    }
    if (kind == "read" || kind == "write") {
      // Both locks must belong to one object, or a downgrade would be impossible.
      auto& both = read_write_locks_[path];
      if (!both) both = std::make_shared<InterProcessReadWriteLock>(*client_, path, options);
      InterProcessLock* chosen = &both->write();
      if (kind == "read") chosen = &both->read();
      return std::make_unique<LockOf<InterProcessLock>>(
          std::shared_ptr<InterProcessLock>{both, chosen});
    }
    if (kind == "semaphore-mutex") {
      return std::make_unique<LockOf<InterProcessSemaphoreMutex>>(
          std::make_shared<InterProcessSemaphoreMutex>(*client_, path, options));
    }
    int number = 0;
    int maximum = 0;
    std::istringstream words{kind};
    words >> number;
    words.ignore(std::string_view{"-of-"}.size());
    if (!(words >> maximum)) throw std::invalid_argument{kind};
    return std::make_unique<Permits>(InterProcessSemaphore{*client_, path, maximum, options},
                                     number);
  }

  static void increment(Lock& lock, const std::string& directory, demo::Hold hold) {
    const std::scoped_lock guard{lock};
    hold.in = now();
    add_one(directory + "/counter");
    write_down(directory, hold, lock.current_lease());
  }

  void visit(std::istream& words) {
    int maximum = 0;
    std::string path;
    int times = 0;
    std::string directory;
    demo::Hold hold;
    words >> maximum >> path >> times >> directory >> hold.process;
    InterProcessSemaphore semaphore{*client_, path, maximum};
    std::minstd_rand random{static_cast<unsigned>(hold.process)};
    std::uniform_int_distribution<int> some{1, maximum};
    for (int i = 0; i < times; ++i) {
      std::vector<Lease> permits = semaphore.acquire(some(random));
      hold.in = now();
      while (!permits.empty()) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
        write_down(directory, hold, permits.back());
        permits.pop_back();
      }
    }
  }

  /// Leads until the process is killed.
  std::string lead(std::istream& words) {
    std::string kind;
    std::string path;
    words >> kind >> path;
    std::promise<FencingToken> chosen;
    if (kind == "latch") {
      latch_ = std::make_unique<LeaderLatch>(*client_, path, CandidateOptions{.id = name_});
      latch_->start();
      chosen.set_value(latch_->wait().token());
    } else {
      selector_ = std::make_unique<LeaderSelector>(
          *client_, path,
          [&chosen](const Lease& leadership, std::stop_token) {
            chosen.set_value(leadership.token());
            for (;;) std::this_thread::sleep_for(std::chrono::hours{1});
          },
          LeaderSelectorOptions{.candidate = {.id = name_}});
      selector_->start();
    }
    const FencingToken token = chosen.get_future().get();
    return to_string(token) + " " + std::to_string(now());
  }

  void count(std::istream& words) {
    std::string path;
    int times = 0;
    words >> path >> times;
    SharedCount count{*client_, path};
    Versioned<std::int32_t> now = count.load();
    for (int i = 0; i < times; ++i) {
      while (!count.compare_exchange(now, now.value + 1)) {
      }
      now = count.load();
    }
  }

  void use_barrier(const std::string& what, std::istream& words) {
    std::string path;
    words >> path;
    DistributedBarrier barrier{*client_, path};
    if (what == "set-barrier") return barrier.set();
    if (what == "remove-barrier") return barrier.remove();
    barrier.wait();
  }

  void await_count(std::istream& words) {
    std::string path;
    int number = 0;
    words >> path >> number;
    const SharedCount count{*client_, path};
    Versioned<std::int32_t> now = count.load();
    while (now.value != number) now = count.wait(now);
  }

  const std::string name_;
  const ClientOptions options_;
  const NamingProfile profile_;
  std::optional<Client> client_;
  PartyCommands parties_;
  std::unique_ptr<LeaderLatch> latch_;
  std::unique_ptr<LeaderSelector> selector_;
  std::map<std::string, std::shared_ptr<InterProcessReadWriteLock>> read_write_locks_;
  /// The locks that the session has used, by kind and path.
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Lock>> locks_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> commands_;
  int revocations_ = 0;
  std::vector<Subscription> revocable_;
};

void run(const ClientOptions& options, NamingProfile profile) {
  std::map<std::string, std::unique_ptr<Session>> sessions;
  for (std::string line; std::getline(std::cin, line);) {
    const std::size_t space = line.find(' ');
    if (space == line.npos) continue;
    const std::string name = line.substr(0, space);
    auto& session = sessions[name];
    if (!session) session = std::make_unique<Session>(name, options, profile);
    session->tell(line.substr(space + 1));
  }
  // The test has ended, or ends this process; the threads are not waited for.
  ::_exit(0);
}

}  // namespace
}  // namespace custodian::tests

int main(int argc, char* argv[]) {
  if (argc < 3 || argc > 4) return 2;
  custodian::ClientOptions options;
  options.servers = argv[1];
  if (argc == 4) options.tls = custodian::TlsOptions{.ca_file = argv[3]};
  custodian::tests::run(options, std::string{argv[2]} == "kazoo"
                                     ? custodian::NamingProfile::kazoo
                                     : custodian::NamingProfile::curator);
}
