#pragma once

/// \file
/// A history from the locks' point of view: who believed when, who came next, what excuses it.

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "history.hpp"

namespace custodian::chaos {

inline constexpr Time never{std::numeric_limits<Time::rep>::max()};

/// Refers to the history, which must live as long.
class Holds {
 public:
  explicit Holds(const History& history);

  /// Holds of each lock by the time of their grants.
  [[nodiscard]] const std::map<std::string, std::vector<const Acquire*>>& by_lock() const noexcept {
    return by_lock_;
  }
  /// When its holder stopped to believe in it.
  [[nodiscard]] Time end(const Acquire& hold) const;
  /// Whether there is not enough for both.
  [[nodiscard]] static bool exclude(const Acquire& one, const Acquire& other) {
    return one.takes + other.takes > one.of;
  }
  /// The first grant of a later token of this lock that excludes the hold; `never` if there was
  /// none.
  [[nodiscard]] Time next_grant(const Acquire& hold) const;
  [[nodiscard]] const Acquire* find(const std::string& lock, std::int64_t token) const;

  /// Whether the holder's process was stopped at that time, or just before. A tenth of the session
  /// timeout, the library's own margin, is what it has to notice after that.
  [[nodiscard]] bool was_stopped(const Acquire& hold, Time at) const;
  /// Whether somebody had taken the hold's node away by then.
  [[nodiscard]] bool was_taken_away(const Acquire& hold, Time at) const;

 private:
  const History& history_;
  std::map<std::string, std::vector<const Acquire*>> by_lock_;
  using FirstGrants = std::map<std::int64_t, Time>;
  /// By lock, and by what a hold takes of it: the first grant among tokens from each on.
  std::map<std::string, std::map<int, FirstGrants>> first_grants_;
};

}  // namespace custodian::chaos
