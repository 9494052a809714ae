#pragma once

/// \file
/// Holds is a history from the locks' point of view: until when each holder believed in its hold,
/// the next grant, and what excuses an overlap.

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "history.hpp"

namespace custodian::chaos {

inline constexpr Time never{std::numeric_limits<Time::rep>::max()};

/// Refers to the history, which must outlive this object.
class Holds {
 public:
  explicit Holds(const History& history);

  /// The holds of each lock, in the order of their grants.
  [[nodiscard]] const std::map<std::string, std::vector<const Acquire*>>& by_lock() const noexcept {
    return by_lock_;
  }
  /// The time at which the holder stopped believing in its hold.
  [[nodiscard]] Time end(const Acquire& hold) const;
  /// Returns whether the two holds together take more shares than there are.
  [[nodiscard]] static bool exclude(const Acquire& one, const Acquire& other) {
    return one.takes + other.takes > one.of;
  }
  /// The time of the first grant of this lock that excludes the hold and has a later token; `never`
  /// if there was none.
  [[nodiscard]] Time next_grant(const Acquire& hold) const {
    return first_grant_after(hold, hold.token);
  }
  /// The same, but for grants of the hold's own node: those only pass the lock on.
  [[nodiscard]] Time next_grant_of_another_node(const Acquire& hold) const {
    return first_grant_after(hold, last_of_node(hold.token));
  }
  [[nodiscard]] const Acquire* find(const std::string& lock, const Token& token) const;

  /// Returns whether the holder's process was stopped at that time, or just before: after a stop
  /// the process has a tenth of the session timeout, the library's own margin, to notice a loss. A
  /// stop that began before the hold was passed on does not count: the library reads the clock
  /// before it passes a lock on.
  [[nodiscard]] bool was_stopped(const Acquire& hold, Time at) const;
  /// Returns whether the hold's node had been deleted by then. A process that has not noticed that
  /// yet may pass the lock on; it has noticed when the fault is over.
  [[nodiscard]] bool was_taken_away(const Acquire& hold, Time at) const;

 private:
  [[nodiscard]] Time first_grant_after(const Acquire& hold, const Token& token) const;
  /// The earliest time at which the hold can have been passed on: the end of the previous hold of
  /// its node, or 0 if there was none.
  [[nodiscard]] Time passed_on(const Acquire& hold) const;

  const History& history_;
  std::map<std::string, std::vector<const Acquire*>> by_lock_;
  using FirstGrants = std::map<Token, Time>;
  /// The first grants among all tokens from a given one on, by lock, and by the share of a hold.
  std::map<std::string, std::map<int, FirstGrants>> first_grants_;
  /// The ends of the holds that were granted, by lock and token.
  std::map<std::string, std::map<Token, Time>> ends_;
};

}  // namespace custodian::chaos
