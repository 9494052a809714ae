#pragma once

/// \file
/// WaitGraph has the waits of sessions for each other, and finds those that cannot end. Pure: a
/// listing in, circles out.
///
/// 1. A session that waits for nothing can proceed, and will release what it holds.
/// 2. A wait for a lock ends when all of its holders can proceed; a wait for a permit, when one
///    can. A session whose waits have all ended can proceed, too.
/// 3. Those that are left are stuck. The strongly connected components among them are the groups
///    that wait for each other; a session that merely waits for such a group is in none.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "custodian/inspect/wait_cycles.hpp"

namespace custodian::recipes_detail {

class WaitGraph {
 public:
  explicit WaitGraph(const std::vector<ListedLock>& locks);

  [[nodiscard]] std::vector<WaitCycle> cycles();

 private:
  using Index = std::size_t;  ///< of a session, in the order of their ids
  struct Claimant {
    Index session = 0;
    const Inspected* contender = nullptr;
  };
  struct Queue {
    const ListedLock* lock = nullptr;
    std::vector<Claimant> holders{};  ///< each session once
    std::vector<std::size_t> waits{};
  };
  struct Wait {
    Claimant waiter{};
    std::size_t queue = 0;
    std::size_t stuck_holders = 0;  ///< those that cannot proceed, as far as is known
    bool has_ended = false;
  };
  struct Session {
    std::vector<std::size_t> holds{};  ///< queues
    std::vector<std::size_t> waits{};
    std::size_t open_waits = 0;
  };
  /// A way on from a session: what it waits for.
  struct Step {
    std::size_t wait = 0;
    Claimant holder{};
  };

  [[nodiscard]] Index index_of(std::int64_t session) const;
  void add(const ListedLock& lock);
  void let_proceed();
  void end(std::size_t wait, std::vector<Index>& proceeding);
  [[nodiscard]] bool is_stuck(Index session) const { return sessions_[session].open_waits > 0; }
  /// The ways on to stuck sessions.
  [[nodiscard]] std::vector<Step> steps_from(Index session) const;
  /// For each session the number of its component.
  [[nodiscard]] std::vector<std::size_t> components() const;
  /// The session must be in a component of several.
  [[nodiscard]] std::vector<CyclicWait> shortest_circle(Index from) const;

  std::vector<std::int64_t> ids_;  ///< sorted
  std::vector<Session> sessions_;
  std::vector<Queue> queues_;
  std::vector<Wait> waits_;
};

}  // namespace custodian::recipes_detail
