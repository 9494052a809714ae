#pragma once

/// \file
/// WaitGraph is the graph of which sessions wait for which, and finds the waits that cannot end.
/// Pure: a listing in, circles out.
///
/// 1. A session that waits for nothing can proceed, and will release what it holds.
/// 2. A wait for a lock ends when all holders of the lock can proceed; a wait for a permit, when
///    one holder can. A session whose waits have all ended can proceed, too.
/// 3. All other sessions are stuck. The strongly connected components among these are the groups
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
  using Index = std::size_t;  ///< the index of a session, in the order of their ids
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
    std::size_t stuck_holders = 0;  ///< the holders that cannot proceed, as far as is known
    bool has_ended = false;
  };
  struct Session {
    std::vector<std::size_t> holds{};  ///< indices of queues
    std::vector<std::size_t> waits{};
    std::size_t open_waits = 0;
  };
  /// An edge of the graph: a wait of a session, and a holder that it waits for.
  struct Step {
    std::size_t wait = 0;
    Claimant holder{};
  };

  [[nodiscard]] Index index_of(std::int64_t session) const;
  void add(const ListedLock& lock);
  void let_proceed();
  void end(std::size_t wait, std::vector<Index>& proceeding);
  [[nodiscard]] bool is_stuck(Index session) const { return sessions_[session].open_waits > 0; }
  /// The edges from a session to stuck sessions.
  [[nodiscard]] std::vector<Step> steps_from(Index session) const;
  /// For each session the number of its component.
  [[nodiscard]] std::vector<std::size_t> components() const;
  /// A shortest circle through a session, which must be in a component of several sessions.
  [[nodiscard]] std::vector<CyclicWait> shortest_circle(Index from) const;

  std::vector<std::int64_t> ids_;  ///< sorted
  std::vector<Session> sessions_;
  std::vector<Queue> queues_;
  std::vector<Wait> waits_;
};

}  // namespace custodian::recipes_detail
