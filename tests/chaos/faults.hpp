#pragma once

/// \file
/// Faults plays the faults of a chaos run. Each fault is begun and undone, and then Faults waits
/// until all is well again (Stage::wait_until_all_is_well()).

#include <cstdint>

#include "fault_kind.hpp"
#include "stage.hpp"

namespace custodian::chaos {

class Faults {
 public:
  explicit Faults(Stage& stage) : stage_{stage} {}

  /// Plays one fault from beginning to end, and records it in the stage's journal.
  void play(FaultKind kind);

 private:
  /// A worker that keeps a lock during the fault.
  struct Target {
    Place& place;
    WorkerProcess::Kept kept;
  };
  enum class Concerns { the_target, all };

  Target choose_target();
  /// Chooses a worker, and confines it to this member: until its place is healed, the worker
  /// reaches no other.
  Target choose_target_at(std::size_t member);
  /// Makes the worker keep a lock. Half of the targets are quiet as well: a write would reveal the
  /// fault, while a server that is cut off still answers reads.
  Target keep_at(Place& place);

  /// Waits until the holder is notified of the loss.
  void wait_until_told(const Target& target);

  void begin(FaultKind kind, Concerns concerns, const Target& target);
  void begin(FaultKind kind, const std::string& process, const std::string& lock,
             const std::string& token);
  void healed();
  /// Lets the target release, and waits until all is well again.
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

  /// A time within which every silent session expires.
  [[nodiscard]] std::chrono::milliseconds past_session_timeout() const;

  Stage& stage_;
  std::int64_t number_ = 0;
};

}  // namespace custodian::chaos
