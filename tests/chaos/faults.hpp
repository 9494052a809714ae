#pragma once

/// \file
/// Faults plays the faults of a chaos run: each is begun, undone, and waited for until all is well
/// again.

#include <cstdint>

#include "fault_kind.hpp"
#include "stage.hpp"

namespace custodian::chaos {

class Faults {
 public:
  explicit Faults(Stage& stage) : stage_{stage} {}

  /// Plays one fault from its beginning to its end, and notes it in the stage's journal.
  void play(FaultKind kind);

 private:
  /// A worker that holds a lock for as long as the fault takes.
  struct Target {
    Place& place;
    WorkerProcess::Kept kept;
  };
  enum class Concerns { the_target, all };

  Target choose_target();
  /// One that reaches this member, and, while it is confined, no other.
  Target choose_target_at(std::size_t member);
  /// Half of them are quiet: a server that is cut off still answers reads, where a write would show
  /// the fault.
  Target keep_at(Place& place);

  /// Sooner or later every holder is, whatever became of its lock.
  void wait_until_told(const Target& target);

  void begin(FaultKind kind, Concerns concerns, const Target& target);
  void begin(FaultKind kind, const std::string& process, const std::string& lock,
             const std::string& token);
  void healed();
  /// The target holds on no longer, and everybody is granted locks.
  void end(const Target& target);

  void cut_client(FaultKind kind, testing::Direction direction);
  void cut_follower(FaultKind kind, testing::PeerDirection direction);
  void cut_leader(FaultKind kind, testing::PeerDirection direction);
  void reset_connection();
  void kill_server(FaultKind kind);
  void pause_server(FaultKind kind);
  void expire_session();
  void delete_holder();
  void delete_waiter(FaultKind kind);
  void stop_worker();
  void kill_worker();
  void stay_calm();

  /// Longer than any silent session lasts.
  [[nodiscard]] std::chrono::milliseconds past_session_timeout() const;

  Stage& stage_;
  std::int64_t number_ = 0;
};

}  // namespace custodian::chaos
