#pragma once

/// \file
/// LockPlay is one acquire and release of a lock by the client "observed", with faults, and the
/// checks that must hold in every case.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "custodian/locks/inter_process_lock.hpp"
#include "scripted/cancel_moment.hpp"
#include "world.hpp"

namespace custodian::tests {

enum class Recipe { mutex, writer, reader, semaphore_mutex };

enum class Face {
  acquire,
  try_acquire,
  timed,
  downgrade,  ///< acquires the read lock while holding the write lock, which was acquired without a
              ///< fault
};

/// What happens while the acquire waits, besides the faults.
enum class Incident {
  none,
  holder_releases,
  holders_node_deleted,
  own_session_expires,  ///< the acquire's session expires; then the holder releases
  own_node_deleted,     ///< an operator deletes the acquire's node; then the holder releases
};

enum class Neighbours { none, foreign, malformed, end_of_sequence };

struct Scenario {
  std::string name;
  Face face = Face::acquire;
  Recipe recipe = Recipe::mutex;
  bool held = false;              ///< whether "other" holds the lock when the acquire begins
  Recipe others = Recipe::mutex;  ///< how "other" holds the lock
  Incident incident = Incident::none;
  RequeuePolicy requeue = RequeuePolicy::queue_again;
  Neighbours neighbours = Neighbours::none;
  /// Errors with which an acquire may end when nobody cancels it.
  std::vector<error_code> expected{};
  /// Further errors that are right if a fault ends the session.
  std::vector<error_code> expected_of_expiry{};
  /// The incident happens when this request is sent; if empty, when the position becomes known.
  std::optional<std::size_t> incident_at{};
};

struct Cancel {
  CancelMoment moment = CancelMoment::request_sent;
  std::size_t at = 0;
};

[[nodiscard]] inline bool ends_session(const Fault& fault) {
  return fault.kind == FaultKind::expire_before || fault.kind == FaultKind::expire_after;
}

struct Verdict {
  std::string violation;  ///< empty if all is well
  std::size_t steps = 0;  ///< requests of the observed client
  error_code error;       ///< how the acquire ended
  bool granted = false;
};

[[nodiscard]] Verdict play(const Scenario& scenario, Faults faults = {},
                           std::optional<Cancel> cancel = {});

}  // namespace custodian::tests
