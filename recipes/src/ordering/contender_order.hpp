#pragma once

/// \file
/// The order of contenders decides which is first in a queue: the names of the children of a lock's
/// node are read, put in order and judged. All queued recipes use this order, and differ only in
/// their `NamingRule`.
///
/// Pure: names in, a judgement out. A listing shows the past; the caller decides when to trust it.
/// Some nodes no longer count: those that the caller has released but not yet deleted, and the
/// caller's own write node when it takes the read lock besides. The caller leaves them out of the
/// listing.
///
/// Names in an answer are views into the `Listing`, which must outlive them. Safe to use from any
/// thread.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "custodian/locks/naming_profile.hpp"

namespace custodian::recipes_detail {

/// Two contenders exclude each other unless both are `shared`. The order of the values counts: of
/// two with the same sequence number, as a downgrade makes them, the exclusive one is first.
enum class ContenderKind : std::uint8_t { exclusive, shared };

/// A text that makes a child a contender, followed by its sequence number.
struct LockName {
  std::string_view text;
  ContenderKind kind;
  NamingProfile profile;
};

/// Which children of a node contend for the lock, and as what. The names are a static table.
struct NamingRule {
  std::span<const LockName> names;
};

inline constexpr std::array mutex_names{
    LockName{"lock-", ContenderKind::exclusive, NamingProfile::curator},
    LockName{"__lock__", ContenderKind::exclusive, NamingProfile::kazoo},
};
inline constexpr std::array read_write_names{
    LockName{"__WRIT__", ContenderKind::exclusive, NamingProfile::curator},
    LockName{"__READ__", ContenderKind::shared, NamingProfile::curator},
    LockName{"__lock__", ContenderKind::exclusive, NamingProfile::kazoo},
    LockName{"__rlock__", ContenderKind::shared, NamingProfile::kazoo},
};
inline constexpr std::array latch_names{
    LockName{"latch-", ContenderKind::exclusive, NamingProfile::curator},
};
/// The names of all known elections, for observers.
inline constexpr std::array election_names{
    LockName{"latch-", ContenderKind::exclusive, NamingProfile::curator},
    LockName{"lock-", ContenderKind::exclusive, NamingProfile::curator},
    LockName{"__lock__", ContenderKind::exclusive, NamingProfile::kazoo},
};
/// The nodes of a semaphore's permits. They are in order, but no queue.
inline constexpr std::array permit_names{
    LockName{"lease-", ContenderKind::exclusive, NamingProfile::curator},
};
/// The lock name of a contender of this kind and profile. The rule must have one.
[[nodiscard]] std::string_view lock_name_of(const NamingRule& rule, ContenderKind kind,
                                            NamingProfile profile);

inline constexpr NamingRule mutex_rule{mutex_names};
inline constexpr NamingRule read_write_rule{read_write_names};
inline constexpr NamingRule latch_rule{latch_names};
inline constexpr NamingRule election_rule{election_names};
inline constexpr NamingRule permit_rule{permit_names};

/// The number of a sequential node: the server appends a signed 32-bit counter to the name.
using Sequence = std::int32_t;

enum class SequenceState {
  usable,
  /// Usable, but within 2^20 of the end of the counter, which deserves a warning.
  near_end,
  /// The counter stands at its end and repeats itself, or has gone below zero: a contender with
  /// this number cannot know its predecessors.
  exhausted,
};

[[nodiscard]] SequenceState state_of(Sequence sequence) noexcept;

struct ContenderName {
  std::string_view name;
  ContenderKind kind;
  NamingProfile profile;
  Sequence sequence;
};

/// The name contains no lock name: a foreign child, which does not contend.
struct Foreign {};
/// The name contains a lock name but no number after it, so its place in the queue is unknown.
struct MalformedName {};
using ParsedName = std::variant<ContenderName, Foreign, MalformedName>;

/// Reads a child's name. The number is the text after the last occurrence of a lock name, wherever
/// that is. Curator reads names in this way, so names with and without protection are read alike.
[[nodiscard]] ParsedName parse_name(std::string_view name, const NamingRule& rule);

/// The children of a lock's node, read and in order. It owns the names. It is not copyable; a move
/// keeps views into it valid.
class Listing {
 public:
  Listing(std::vector<std::string> children, const NamingRule& rule);

  Listing(Listing&&) noexcept = default;
  Listing& operator=(Listing&&) noexcept = default;
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;
  ~Listing() = default;

  /// In the order of the queue.
  [[nodiscard]] std::span<const ContenderName> contenders() const noexcept { return contenders_; }
  /// Children that are no contenders, in the order listed. They deserve one line in the log.
  [[nodiscard]] std::span<const std::string_view> foreign() const noexcept { return foreign_; }
  [[nodiscard]] std::span<const std::string_view> malformed() const noexcept { return malformed_; }

  /// The number of all children.
  [[nodiscard]] std::size_t size() const noexcept {
    return contenders_.size() + foreign_.size() + malformed_.size();
  }
  /// Whether the rule has shared contenders, which do not exclude each other.
  [[nodiscard]] bool knows_shared() const;

  /// The place of a contender in `contenders()`; nothing if the listing does not have it.
  [[nodiscard]] std::optional<std::size_t> index_of(std::string_view name) const;

  /// How many contenders in front of the one at `index` exclude it.
  [[nodiscard]] std::size_t blockers_of(std::size_t index) const;
  /// The index of the last contender in front that excludes the one at `index`, which has to wait
  /// for the end of that contender; nothing if there is none.
  [[nodiscard]] std::optional<std::size_t> nearest_blocker_of(std::size_t index) const;

 private:
  NamingRule rule_;
  std::vector<std::string> children_;
  std::vector<ContenderName> contenders_;
  /// Places of the exclusive contenders, ascending.
  std::vector<std::size_t> exclusive_;
  std::vector<std::string_view> foreign_;
  std::vector<std::string_view> malformed_;
};

/// No contender in front excludes this one.
struct Held {
  /// The contender right in front, whether it excludes this one or not; empty if there is none.
  std::string_view in_front{};
};
/// `position` contenders in front exclude this one; `nearest` is the last of them.
struct Wait {
  ContenderName nearest;
  std::size_t position = 0;
  /// No other contender in front excludes this one, and new ones come only behind: when `nearest`
  /// is gone, none excludes it. False for a writer behind a writer: the writer in front may leave a
  /// reader, by a downgrade.
  bool is_last = false;
  /// The contender right in front, whether it excludes this one or not.
  std::string_view in_front{};
};
/// The listing does not contain the contender's own node.
struct OwnNodeMissing {};
/// The contender's own sequence number is beyond the end of the counter.
struct Exhausted {
  std::string_view name;
};
/// A child is a contender at an unknown place, so no contender may pass it.
struct Malformed {
  std::string_view name;
};
using Judgement = std::variant<Held, Wait, OwnNodeMissing, Exhausted, Malformed>;

/// What the contender named `mine` must do. If several answers apply, the first one of this list is
/// given: own node malformed, missing, exhausted; another's node malformed; wait, held.
[[nodiscard]] Judgement judge(const Listing& listing, std::string_view mine);

/// The name for a protected create: the server appends the sequence number. "_c_<uuid>-lock-" for
/// the lock name "lock-".
[[nodiscard]] std::string make_node_name(std::string_view uuid, std::string_view lock_name);

/// The uuid in a name that was made by a protected create: 36 characters, or 32 without hyphens as
/// the Go client writes it. Nothing for other names, kazoo's included, which have no such prefix.
[[nodiscard]] std::optional<std::string_view> protection_id_of(std::string_view name);

}  // namespace custodian::recipes_detail
