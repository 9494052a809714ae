#pragma once

/// \file
/// DoubtfulCreates remembers protected creates whose reply was lost. It decides which nodes they
/// have left without an owner, and when to look for such nodes again. Pure: the caller passes in
/// times and names.

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace custodian::detail {

/// The beginning `_c_<uuid>-` of a node's name; nothing if no protected create made the node.
[[nodiscard]] std::optional<std::string_view> protection_of(std::string_view name) noexcept;

class DoubtfulCreates {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;
  /// The pause from add() to the first look for late nodes.
  static constexpr std::chrono::milliseconds first_pause{50};
  /// The pause doubles after each look, up to this: so a late node blocks a lock for little longer.
  static constexpr std::chrono::milliseconds longest_pause{500};

  /// Whether a look was complete.
  enum class Look : std::uint8_t { complete, failed };

  /// Adds a create whose reply was lost, once its caller has found out the outcome or has given up.
  /// `kept` is the name of the node that the caller owns; nothing if the caller owns none. The
  /// servers may apply the create until `until`.
  void add(const std::string& parent, std::string protection, std::optional<std::string> kept,
           Time now, Time until);
  /// Remembered creates may be applied until this time: a session that was given up goes on beside
  /// the new one.
  void extend(Time until);
  /// The caller gives up this node: a look that finds it from now on counts it as a stray.
  void disown(std::string_view path);
  /// The servers refuse to delete this node. Looks for its create end, because they are of no use.
  void forget(std::string_view path);
  void clear() noexcept { parents_.clear(); }

  [[nodiscard]] bool empty() const noexcept { return parents_.empty(); }
  /// When to look next, if at all.
  [[nodiscard]] std::optional<Time> next() const;
  /// The parents below which to look now.
  [[nodiscard]] std::vector<std::string> due(Time now) const;
  /// The paths of a parent's children that a doubtful create has left without an owner.
  [[nodiscard]] std::vector<std::string> strays(const std::string& parent,
                                                const std::vector<std::string>& children) const;
  /// Records a look at this parent, from `began` to `ended`. A complete look forgets the creates
  /// whose `until` had passed when the look began.
  void looked(const std::string& parent, Look look, Time began, Time ended);

 private:
  struct Create {
    std::optional<std::string> kept;
    Time until;
  };
  struct Parent {
    std::map<std::string, Create, std::less<>> creates;  ///< by protection
    Duration pause{};                                    ///< before the next look
    Time next{};
  };
  using Parents = std::map<std::string, Parent, std::less<>>;

  [[nodiscard]] Parents::iterator parent_with(std::string_view path);

  Parents parents_;
};

}  // namespace custodian::detail
