#pragma once

/// \file
/// Stage is a server, three instances of the scheduler, the faults of their leaders, and the
/// account of the run.
///
/// Threads: one at a time. Every wait has a time limit, after which it throws std::runtime_error.

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "account.hpp"
#include "custodian/testing/testing_server.hpp"
#include "instance.hpp"

namespace custodian::tests::scheduler {

struct StageSettings {
  int jobs = 200;
  std::chrono::milliseconds session_timeout{2000};
  std::chrono::milliseconds job_time{100};
  std::string database{};  ///< a file that does not exist yet
};

class Stage {
 public:
  static constexpr std::string_view path = "/scheduler";

  /// Starts all instances.
  explicit Stage(StageSettings settings);

  /// Waits for a leader in the middle of a job, applies this fault, waits until another instance
  /// leads, and undoes the fault. Repeats this if a stopped leader had no result that could be
  /// refused.
  void play(FaultKind kind);
  /// Waits until all jobs have results and the instances have ended.
  void finish();

  [[nodiscard]] const Account& account() const noexcept { return account_; }
  [[nodiscard]] const testing::TestingServer& server() const noexcept { return server_; }
  /// The instances' output, in the order in which it was read.
  [[nodiscard]] const std::string& transcript() const noexcept { return transcript_; }

 private:
  struct Leader {
    Instance* instance = nullptr;
    std::int64_t token = 0;
    int recorded = 0;  ///< the number of jobs that it has recorded since it took over
    bool in_a_job = false;
  };

  /// Applies the fault once, and undoes it. Returns false if a stopped leader had no result that
  /// could be refused.
  bool strike(FaultKind kind);
  void kill(Fault& fault, Instance& leader);
  void cut_off(Fault& fault, Instance& leader);
  bool stop(Fault& fault, Instance& leader);

  void start(Instance& instance);
  /// Waits until the leader has just begun another job.
  Leader wait_for_leader_in_a_job();
  void wait_for_next_leader(const Fault& fault);
  /// Waits for one of these events of the instance after the fault began, and returns it.
  EventKind wait_for_word(const Fault& fault, std::initializer_list<EventKind> words);
  void wait_for(const std::string& what, const std::function<bool()>& condition);
  void listen();
  void understand(Instance& instance, const std::string& line);
  /// Returns whether the leader was stopped in the middle of a job. The answer is false if the
  /// leader has an open transaction, which blocks all others.
  [[nodiscard]] bool is_stopped_in_a_job(std::int64_t token) const;

  const StageSettings settings_;
  testing::TestingServer server_;
  std::deque<Instance> instances_;
  Leader leader_;
  Account account_;
  std::string transcript_;
  int cuts_ = 0;
  bool finishing_ = false;
};

}  // namespace custodian::tests::scheduler
