#pragma once

/// \file
/// ConditionLine reads the waiters of a condition, and their signals, from one listing. Pure; any
/// thread.
///
/// A waiter is an ephemeral node, `_c_<uuid>-wait-<number>`. The signal to a waiter is a persistent
/// node, `sig-<the waiter's name>`. So a signal outlives a waiter that has gone, and then belongs
/// to the next waiter.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace custodian::recipes_detail {

/// The part of a waiter's name between the protection id and the number.
inline constexpr std::string_view waiter_name = "wait-";

/// The name of the signal to a waiter.
[[nodiscard]] std::string signal_to(std::string_view waiter);

class ConditionLine {
 public:
  struct Waiter {
    std::string name;
    bool is_signalled = false;
  };
  /// A signal whose waiter has gone, and the waiter that gets it.
  struct Passing {
    std::string_view from;  ///< the name of the waiter that has gone
    std::string_view to;
  };

  /// Names that are neither a waiter's nor a signal's are ignored.
  explicit ConditionLine(const std::vector<std::string>& names);

  /// The waiters, in the order of their arrival.
  [[nodiscard]] const std::vector<Waiter>& waiters() const noexcept { return waiters_; }
  /// The names of the waiters that have gone and left their signals, in the order of their arrival.
  [[nodiscard]] const std::vector<std::string>& left_signals() const noexcept { return left_; }
  /// The first waiters without a signal, at most `most` of them.
  [[nodiscard]] std::vector<std::string> unsignalled(std::size_t most) const;
  /// The nearest waiter in front of this one, signalled or not; nothing if it is the first.
  [[nodiscard]] std::optional<std::string_view> in_front_of(std::string_view waiter) const;
  /// The next signal to pass on; nothing if no signal is left, or no waiter is without one.
  [[nodiscard]] std::optional<Passing> passing() const;

 private:
  std::vector<Waiter> waiters_;
  std::vector<std::string> left_;
};

/// Whether a node's name is a waiter's. A name with a negative number, which a server gives after
/// 2147483647, is not.
[[nodiscard]] bool is_waiter(std::string_view name);

}  // namespace custodian::recipes_detail
