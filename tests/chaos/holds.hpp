#pragma once

/// \file
/// Holds is a history from the locks' point of view: which holder believed when, which came next,
/// what excuses it.

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
  [[nodiscard]] Time next_grant(const Acquire& hold) const {
    return first_grant_after(hold, hold.token);
  }
  /// The same among tokens of other nodes: the lock is not only passed on.
  [[nodiscard]] Time next_grant_of_another_node(const Acquire& hold) const {
    return first_grant_after(hold, last_of_node(hold.token));
  }
  [[nodiscard]] const Acquire* find(const std::string& lock, const Token& token) const;

  /// Whether the holder's process was stopped at that time, or just before. A tenth of the session
  /// timeout, the library's own margin, is what it has to notice after that. A hold that was passed
  /// on after the stop is not concerned: the library knows the time before it passes a lock on.
  [[nodiscard]] bool was_stopped(const Acquire& hold, Time at) const;
  /// Whether the hold's node had been taken away by then. A process that does not know yet may pass
  /// the lock on; it knows when the fault is over.
  [[nodiscard]] bool was_taken_away(const Acquire& hold, Time at) const;

 private:
  [[nodiscard]] Time first_grant_after(const Acquire& hold, const Token& token) const;
  /// The hold was not passed on before then: the release of its holder before. 0 if there was none.
  [[nodiscard]] Time passed_on(const Acquire& hold) const;

  const History& history_;
  std::map<std::string, std::vector<const Acquire*>> by_lock_;
  using FirstGrants = std::map<Token, Time>;
  /// By lock, and by what a hold takes of it: the first grant among tokens from each on.
  std::map<std::string, std::map<int, FirstGrants>> first_grants_;
  /// By lock and token: the ends of the holds that were granted.
  std::map<std::string, std::map<Token, Time>> ends_;
};

}  // namespace custodian::chaos
