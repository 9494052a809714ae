// A bounded buffer of producers and consumers in processes that are killed again and again.
// CUSTODIAN_TEST_BUFFER_SECONDS sets for how long; by default a few seconds.

#include <chrono>
#include <cstdlib>
#include <list>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "buffer_commands.hpp"
#include "custodian/conditions/inter_process_condition.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "stage.hpp"
#include "support/catch.hpp"
#include "support/test_servers.hpp"

namespace custodian::tests::buffer_test {
namespace {

using namespace std::chrono_literals;

constexpr int producers = 3;
constexpr int consumers = 3;
constexpr std::chrono::milliseconds session_timeout{2'000};

std::chrono::seconds duration() {
  const char* const seconds = std::getenv("CUSTODIAN_TEST_BUFFER_SECONDS");
  return std::chrono::seconds{seconds == nullptr ? 10 : std::stoi(seconds)};
}

/// A process, and its command.
class Worker {
 public:
  explicit Worker(std::string command) : command_{std::move(command)} { start(); }

  void start() {
    driver_.emplace(ours());
    session_.emplace(*driver_, "worker", session_timeout);
    session_->begin(command_);
  }
  void kill() {
    session_.reset();
    driver_->kill();
    driver_.reset();
  }
  /// Throws if the worker has ended, which it does only with an error.
  void check() {
    if (session_->has_ended()) throw std::runtime_error{command_ + ": " + session_->end()};
  }

 private:
  const std::string command_;
  std::optional<Driver> driver_;
  std::optional<Session> session_;
};

class Judge {
 public:
  explicit Judge(const std::string& base) : paths_{base} {
    Client& client = stage_.client();
    const CreateOptions options{.parents = Parents::created_as_containers};
    client.create(paths_.items(), "", options);
    for (int i = 0; i < producers; ++i) {
      client.create(paths_.put(i), "0");
      client.create(paths_.taken(i), "0");
    }
  }

  [[nodiscard]] BufferPaths for_workers() const { return {stage_.path(paths_.base.substr(1))}; }
  [[nodiscard]] int taken() { return sum(&BufferPaths::taken); }
  [[nodiscard]] int put() { return sum(&BufferPaths::put); }
  [[nodiscard]] int left() {
    const std::string items = stage_.client().get(paths_.items()).data;
    return static_cast<int>(std::ranges::count(items, '\n'));
  }
  /// Whether nothing but the counters is left when the sessions of killed processes have ended. A
  /// short wait at each condition removes the signals that those processes have left.
  [[nodiscard]] bool becomes_clean() {
    if (!eventually([&] { return nodes(paths_.lock()) == 0; })) return false;
    for (const std::string& where : {paths_.has_room(), paths_.has_items()}) {
      InterProcessMutex mutex{stage_.client(), paths_.lock()};
      const InterProcessCondition condition{mutex, where};
      Lease lease = mutex.acquire();
      static_cast<void>(condition.wait_for(lease, 1ms));
      if (nodes(where) != 0) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] std::size_t nodes(const std::string& where) {
    if (!stage_.client().exists(where)) return 0;
    return stage_.client().children(where).names.size();
  }
  [[nodiscard]] int sum(std::string (BufferPaths::*of)(int) const) {
    int all = 0;
    for (int i = 0; i < producers; ++i) {
      all += std::stoi(stage_.client().get((paths_.*of)(i)).data);
    }
    return all;
  }

  Stage stage_{"buffer"};
  const BufferPaths paths_;  ///< as the stage's client sees them: it has the test's namespace
};

TEST_CASE("a bounded buffer of processes that are killed loses no item, and has none twice") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Judge judge{"/buffer"};
  const BufferPaths paths = judge.for_workers();
  std::list<Worker> workers;
  for (int i = 0; i < producers; ++i) {
    workers.emplace_back("produce " + paths.base + " " + std::to_string(i));
  }
  for (int i = 0; i < consumers; ++i) workers.emplace_back("consume " + paths.base);

  std::minstd_rand random{std::random_device{}()};
  const auto end = std::chrono::steady_clock::now() + duration();
  int kills = 0;
  int seen = 0;
  Deadline progress{patience};
  while (std::chrono::steady_clock::now() < end || judge.taken() == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds{500 + random() % 3'000});
    for (Worker& each : workers) each.check();
    const int now = judge.taken();
    if (now != std::exchange(seen, now)) progress = Deadline{patience};
    if (progress.passed())
      FAIL("nobody goes on, after " << now << " items and " << kills << " kills");
    Worker& worker =
        *std::next(workers.begin(), static_cast<std::ptrdiff_t>(random() % workers.size()));
    worker.kill();
    worker.start();
    ++kills;
  }
  for (Worker& each : workers) each.kill();
  CHECK(judge.becomes_clean());
  const int put = judge.put();
  CHECK(judge.taken() + judge.left() == put);
  WARN(put << " items, " << judge.left() << " left in the buffer, " << kills << " kills");
}

}  // namespace
}  // namespace custodian::tests::buffer_test
