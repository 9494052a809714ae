/// \file
/// Our locks, told what to do in the words of driver.hpp: custodian-interop-driver SERVERS NAMES.
/// NAMES is the profile, "curator" or "kazoo".

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "custodian/client.hpp"
#include "custodian/recipes/inter_process_mutex.hpp"
#include "custodian/recipes/inter_process_read_write_lock.hpp"
#include "history.hpp"

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

/// A client with a thread of its own, which holds the locks: their standard face is used, as
/// Curator's, whose locks belong to threads.
class Session {
 public:
  Session(std::string name, std::string servers, Profile profile)
      : name_{std::move(name)}, servers_{std::move(servers)}, profile_{profile} {
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
    std::string kind;
    std::string path;
    words >> what;
    if (what == "connect") {
      int timeout = 0;
      words >> timeout;
      return connect(std::chrono::milliseconds{timeout});
    }
    words >> kind >> path;
    InterProcessLock& chosen = lock(kind, path);
    if (what == "acquire") {
      chosen.lock();
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
    ClientOptions options;
    options.servers = servers_;
    options.session_timeout = timeout;
    options.touch_interval = std::min(options.touch_interval, timeout / 4);
    client_.emplace(std::move(options));
    client_->wait_connected();
    return std::to_string(client_->session().id);
  }

  InterProcessLock& lock(const std::string& kind, const std::string& path) {
    const LockOptions options{.profile = profile_};
    if (kind == "mutex") {
      auto& mutex = mutexes_[path];
      if (!mutex) mutex = std::make_unique<InterProcessMutex>(*client_, path, options);
      return *mutex;
    }
    auto& both = read_write_locks_[path];
    if (!both) both = std::make_unique<InterProcessReadWriteLock>(*client_, path, options);
    if (kind == "read") return both->read();
    return both->write();
  }

  static void increment(InterProcessLock& lock, const std::string& directory, demo::Hold hold) {
    const std::scoped_lock guard{lock};
    hold.in = now();
    const Lease lease = lock.current_lease();
    hold.token = lease.token().value;
    hold.node = lease.node();
    add_one(directory + "/counter");
    std::ofstream history{directory + "/history", std::ios::app};
    hold.out = now();
    if (!(history << to_line(hold) << std::flush)) throw std::runtime_error{"cannot write history"};
  }

  const std::string name_;
  const std::string servers_;
  const Profile profile_;
  std::optional<Client> client_;
  std::map<std::string, std::unique_ptr<InterProcessMutex>> mutexes_;
  std::map<std::string, std::unique_ptr<InterProcessReadWriteLock>> read_write_locks_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> commands_;
};

void run(const std::string& servers, Profile profile) {
  std::map<std::string, std::unique_ptr<Session>> sessions;
  for (std::string line; std::getline(std::cin, line);) {
    const std::size_t space = line.find(' ');
    if (space == line.npos) continue;
    const std::string name = line.substr(0, space);
    auto& session = sessions[name];
    if (!session) session = std::make_unique<Session>(name, servers, profile);
    session->tell(line.substr(space + 1));
  }
  // Whoever started us is gone, or wants us gone; the threads are not waited for.
  ::_exit(0);
}

}  // namespace
}  // namespace custodian::tests

int main(int argc, char* argv[]) {
  if (argc != 3) return 2;
  custodian::tests::run(argv[1], std::string{argv[2]} == "kazoo" ? custodian::Profile::kazoo
                                                                 : custodian::Profile::curator);
}
