#include "ordering/contender_order.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>
#include <tuple>
#include <utility>

namespace custodian::recipes_detail {
namespace {

constexpr std::string_view protection_prefix = "_c_";

/// The name breaks a tie in the same way in all clients, since no two nodes have the same name.
bool precedes(const ContenderName& left, const ContenderName& right) {
  return std::tie(left.sequence, left.kind, left.name) <
         std::tie(right.sequence, right.kind, right.name);
}

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Whether a text of 36 characters with hyphens, or of 32 without, is a uuid.
bool is_uuid(std::string_view text) {
  if (text.size() == 32) {
    return std::ranges::all_of(text, is_hex);
  }
  for (std::size_t i = 0; i != text.size(); ++i) {
    const bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
    if (hyphen ? text[i] != '-' : !is_hex(text[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace

SequenceState state_of(Sequence sequence) noexcept {
  constexpr auto end = std::numeric_limits<Sequence>::max();
  constexpr Sequence warning_zone = 1 << 20;
  if (sequence < 0 || sequence == end) {
    return SequenceState::exhausted;
  }
  return sequence > end - warning_zone ? SequenceState::near_end : SequenceState::usable;
}

ParsedName parse_name(std::string_view name, const NamingRule& rule) {
  const LockName* match = nullptr;
  std::size_t number_at = 0;
  for (const auto& candidate : rule.names) {
    // Of all occurrences the one that ends last counts. So the search begins at the first position
    // where an occurrence would end later than the match so far.
    const auto size = candidate.text.size();
    const auto from = number_at >= size ? number_at - size + 1 : 0;
    const auto at = name.substr(from).rfind(candidate.text);
    if (at != std::string_view::npos) {
      match = &candidate;
      number_at = from + at + size;
    }
  }
  if (match == nullptr) {
    return Foreign{};
  }
  // A number beyond 32 bits is malformed, too: no server gives it, so the name has no place in the
  // queue.
  Sequence sequence = 0;
  const auto* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + number_at, end, sequence);
  if (error != std::errc{} || stop != end) {
    return MalformedName{};
  }
  return ContenderName{name, match->kind, match->profile, sequence};
}

std::string_view lock_name_of(const NamingRule& rule, ContenderKind kind, NamingProfile profile) {
  return std::ranges::find_if(
             rule.names,
             [&](const LockName& name) { return name.kind == kind && name.profile == profile; })
      ->text;
}

Listing::Listing(std::vector<std::string> children, const NamingRule& rule)
    : rule_{rule}, children_{std::move(children)} {
  contenders_.reserve(children_.size());
  for (const auto& child : children_) {
    const auto parsed = parse_name(child, rule_);
    if (const auto* contender = std::get_if<ContenderName>(&parsed)) {
      contenders_.push_back(*contender);
    } else if (std::holds_alternative<Foreign>(parsed)) {
      foreign_.push_back(child);
    } else {
      malformed_.push_back(child);
    }
  }
  std::ranges::sort(contenders_, precedes);
  for (std::size_t i = 0; i != contenders_.size(); ++i) {
    if (contenders_[i].kind == ContenderKind::exclusive) {
      exclusive_.push_back(i);
    }
  }
}

bool Listing::knows_shared() const {
  return std::ranges::find(rule_.names, ContenderKind::shared, &LockName::kind) !=
         rule_.names.end();
}

std::optional<std::size_t> Listing::index_of(std::string_view name) const {
  const auto parsed = parse_name(name, rule_);
  const auto* wanted = std::get_if<ContenderName>(&parsed);
  if (wanted == nullptr) {
    return std::nullopt;
  }
  const auto found = std::ranges::lower_bound(contenders_, *wanted, precedes);
  if (found == contenders_.end() || found->name != name) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - contenders_.begin());
}

std::size_t Listing::blockers_of(std::size_t index) const {
  if (contenders_[index].kind == ContenderKind::exclusive) {
    return index;
  }
  // Only exclusive contenders exclude a shared one.
  const auto first_behind = std::ranges::lower_bound(exclusive_, index);
  return static_cast<std::size_t>(first_behind - exclusive_.begin());
}

std::optional<std::size_t> Listing::nearest_blocker_of(std::size_t index) const {
  const auto blockers = blockers_of(index);
  if (blockers == 0) {
    return std::nullopt;
  }
  return contenders_[index].kind == ContenderKind::exclusive ? index - 1 : exclusive_[blockers - 1];
}

Judgement judge(const Listing& listing, std::string_view mine) {
  const auto malformed = listing.malformed();
  if (const auto own = std::ranges::find(malformed, mine); own != malformed.end()) {
    return Malformed{*own};
  }
  const auto index = listing.index_of(mine);
  if (!index) {
    return OwnNodeMissing{};
  }
  const auto& own = listing.contenders()[*index];
  if (state_of(own.sequence) == SequenceState::exhausted) {
    return Exhausted{own.name};
  }
  if (!malformed.empty()) {
    return Malformed{malformed.front()};
  }
  const auto in_front = *index == 0 ? std::string_view{} : listing.contenders()[*index - 1].name;
  const auto nearest = listing.nearest_blocker_of(*index);
  if (!nearest) {
    return Held{in_front};
  }
  const std::size_t position = listing.blockers_of(*index);
  // A writer in front may leave the reader of its downgrade in front: see Wait::is_last.
  const bool may_leave_another = listing.knows_shared() && own.kind == ContenderKind::exclusive &&
                                 listing.contenders()[*nearest].kind == ContenderKind::exclusive;
  return Wait{listing.contenders()[*nearest], position, position == 1 && !may_leave_another,
              in_front};
}

std::string make_node_name(std::string_view uuid, std::string_view lock_name) {
  std::string name{protection_prefix};
  return name.append(uuid).append("-").append(lock_name);
}

std::optional<std::string_view> protection_id_of(std::string_view name) {
  if (!name.starts_with(protection_prefix)) {
    return std::nullopt;
  }
  name.remove_prefix(protection_prefix.size());
  for (const std::size_t size : {36U, 32U}) {
    const auto id = name.substr(0, size);
    if (name.size() > size && name[size] == '-' && is_uuid(id)) {
      return id;
    }
  }
  return std::nullopt;
}

}  // namespace custodian::recipes_detail
