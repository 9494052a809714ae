/// \file
/// A process that takes locks, by words from its standard input. It obeys one after the other.
///
///   custodian-deadlock-worker SERVERS SESSION-TIMEOUT-MS
///
///   hold <path>      acquires the lock:              held <path>
///   want <path>      the same, with detect_deadlock: held <path>, or: deadlock <message>
///   release          releases all:                   released
///   every <ms>       looks are so far apart from now on; 500 ms at first
///   work <locks> <threads> <ms> <seed>
///                    until "rest": each of its threads takes two locks and more, in the order of
///                    their numbers, with detect_deadlock, and holds them for up to so long
///   rest             ends that:  rested <acquires> <long waits of holders> <false alarms>

#include <atomic>
#include <chrono>
#include <iostream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/inspect/detect_deadlock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"

namespace custodian::tests::deadlocks {
namespace {

using Clock = std::chrono::steady_clock;

void say(const std::string& line) { std::cout << line + '\n' << std::flush; }

class Worker {
 public:
  explicit Worker(const ClientOptions& options) : client_{options} {}

  void obey(const std::string& line) {
    std::istringstream text{line};
    std::string word;
    text >> word;
    if (word == "hold" || word == "want") {
      std::string path;
      text >> path;
      acquire(path, word == "want" ? careful() : AcquireOptions{});
    } else if (word == "release") {
      held_.clear();
      say("released");
    } else if (word == "every") {
      int every = 0;
      text >> every;
      look_every_ = std::chrono::milliseconds{every};
    } else if (word == "work") {
      int locks = 0;
      int threads = 0;
      int longest = 0;
      unsigned seed = 0;
      text >> locks >> threads >> longest >> seed;
      for (int i = 0; i < threads; ++i) {
        threads_.emplace_back([=, this](std::stop_token stop) {
          work(locks, longest, seed + static_cast<unsigned>(i), std::move(stop));
        });
      }
    } else if (word == "rest") {
      for (std::jthread& each : threads_) each.request_stop();
      threads_.clear();
      say("rested " + std::to_string(acquires_) + ' ' + std::to_string(long_waits_) + ' ' +
          std::to_string(alarms_));
    }
  }

 private:
  [[nodiscard]] AcquireOptions careful() const {
    return {.detect_deadlock = detect_deadlock({.below = "/locks", .look_every = look_every_})};
  }
  void acquire(const std::string& path, AcquireOptions options) {
    InterProcessMutex mutex{client_, path};
    try {
      held_.push_back(mutex.acquire(std::move(options)));
      say("held " + path);
    } catch (const Error& error) {
      const bool is_deadlock = error.code() == boost::system::errc::resource_deadlock_would_occur;
      say((is_deadlock ? "deadlock " : "failed ") + std::string{error.what()});
    }
  }
  void work(int locks, int longest, unsigned seed, std::stop_token stop) {
    std::mt19937 random{seed};
    const auto below = [&](int end) {
      return std::uniform_int_distribution<int>{0, end - 1}(random);
    };
    while (!stop.stop_requested()) {
      std::set<int> chosen;
      for (const int some = 2 + below(2); static_cast<int>(chosen.size()) < some;) {
        chosen.insert(below(locks));
      }
      std::vector<Lease> held;
      for (const int number : chosen) {
        InterProcessMutex mutex{client_, "/locks/" + std::to_string(number)};
        const Clock::time_point began = Clock::now();
        try {
          held.push_back(mutex.acquire(careful(), stop));
          ++acquires_;
        } catch (const Error& error) {
          if (error.code() == boost::system::errc::resource_deadlock_would_occur) {
            ++alarms_;
            say(std::string{"alarm "} + error.what());
          }
          break;
        }
        const bool is_long = Clock::now() - began > look_every_ * 2;
        if (is_long && held.size() > 1) ++long_waits_;
      }
      const Clock::time_point until = Clock::now() + std::chrono::milliseconds{below(longest)};
      while (Clock::now() < until && !stop.stop_requested()) {
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
      }
    }
  }

  Client client_;
  std::chrono::milliseconds look_every_{500};
  std::vector<Lease> held_;
  std::atomic<int> acquires_ = 0;
  std::atomic<int> long_waits_ = 0;
  std::atomic<int> alarms_ = 0;
  std::vector<std::jthread> threads_;
};

}  // namespace
}  // namespace custodian::tests::deadlocks

int main(int argc, char* argv[]) {
  if (argc != 3) return 2;
  try {
    const std::chrono::milliseconds timeout{std::stoi(argv[2])};
    custodian::tests::deadlocks::Worker worker{{.servers = argv[1], .session_timeout = timeout}};
    for (std::string line; std::getline(std::cin, line);) worker.obey(line);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
