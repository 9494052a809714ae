#pragma once

/// \file
/// Stage is the setting of a chaos run: a cluster, worker processes, the connections between them,
/// and the waits that the faults need.
///
/// Each worker has a proxy of its own in front of each member, so that one worker can be cut off,
/// or kept to one member, while the others go on.
///
/// Threads: one at a time. Every wait has a time limit, after which it throws std::runtime_error.

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/locks/acquire.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "custodian/testing/testing_cluster.hpp"
#include "fenced_register.hpp"
#include "journal.hpp"
#include "lock_kind.hpp"
#include "worker_process.hpp"

namespace custodian::chaos {

struct StageSettings {
  int workers = 4;
  std::vector<std::string> locks{one_of_each.begin(), one_of_each.end()};  ///< see kind_of()
  std::chrono::milliseconds session_timeout{2000};
  std::chrono::milliseconds tick{250};
  testing::ConnectionFactory connection_factory =
      testing::ConnectionFactory::nio;  ///< how the servers accept connections
  std::uint64_t seed = 0;
  std::filesystem::path directory{};  ///< a directory that exists, and is empty
  std::filesystem::path worker_program{};
};

/// The place of a worker: its proxies to the members, and its present worker.
class Place {
 public:
  Place(int number, const testing::TestingCluster& cluster);

  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] bool has_worker() const noexcept { return worker_ != nullptr; }
  /// The worker. There must be one: see has_worker().
  [[nodiscard]] WorkerProcess& worker() const noexcept { return *worker_; }
  /// Replaces the worker at this place.
  void employ(std::unique_ptr<WorkerProcess> worker) { worker_ = std::move(worker); }
  [[nodiscard]] std::string next_name();
  [[nodiscard]] std::string connect_string() const;

  [[nodiscard]] std::deque<testing::FaultProxy>& lines() noexcept { return lines_; }
  /// Cuts the connections to all members but this one.
  void confine_to(std::size_t member);
  void heal();

 private:
  int number_;
  int incarnations_ = 0;
  std::deque<testing::FaultProxy> lines_;
  std::unique_ptr<WorkerProcess> worker_;
};

class Stage {
 public:
  explicit Stage(StageSettings settings);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// Starts the workers, and waits until each was granted locks.
  void start_workers();
  void employ_another(Place& place);

  [[nodiscard]] testing::TestingCluster& cluster() noexcept { return cluster_; }
  [[nodiscard]] const StageSettings& settings() const noexcept { return settings_; }
  [[nodiscard]] const Journal& journal() const noexcept { return journal_; }
  [[nodiscard]] Client& client() noexcept { return client_; }
  [[nodiscard]] std::mt19937_64& random() noexcept { return random_; }
  [[nodiscard]] Place& any_place();
  /// Draws a lock that can have an exclusive holder: any but a semaphore.
  [[nodiscard]] const std::string& any_lock();
  [[nodiscard]] std::size_t any_follower();
  /// The lock's holder, followed by its waiters. The lock must have an exclusive holder.
  [[nodiscard]] std::vector<Participant> queue(const std::string& lock);

  /// Makes the worker at this place keep this lock, and waits until it holds the lock.
  WorkerProcess::Kept keep(Place& place, const std::string& lock);
  /// Makes the worker at this place, which keeps a lock, only read from now on: it neither writes
  /// nor begins another acquire.
  void quieten(Place& place);
  /// Waits until the lock has been granted with a later token.
  void wait_for_grant_after(const WorkerProcess::Kept& kept);
  /// Waits until all members serve, and then for a new grant to each worker and of each lock.
  void wait_until_all_is_well();
  void wait_for(const std::string& what, const std::function<bool()>& condition);
  /// Waits, and listens to the workers meanwhile.
  void pass(std::chrono::milliseconds length);

  /// Lets all workers finish, and records what they leave on the servers.
  void finish();

 private:
  void listen();
  [[nodiscard]] Token newest_token(const std::string& lock) const;
  void note_what_is_left();
  [[nodiscard]] std::size_t nodes_left();
  [[nodiscard]] std::int64_t watches_left();

  const StageSettings settings_;
  std::mt19937_64 random_;
  Journal journal_;
  testing::TestingCluster cluster_;
  FencedRegister fenced_register_;
  Client client_;  ///< connected to the members directly, without a proxy
  std::deque<Place> places_;
  bool finishing_ = false;
};

}  // namespace custodian::chaos
