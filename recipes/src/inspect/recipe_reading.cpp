#include "inspect/recipe_reading.hpp"

#include <algorithm>
#include <utility>

#include "atomics/rate_ledger.hpp"
#include "barriers/latch_tickets.hpp"
#include "barriers/party_rules.hpp"
#include "barriers/phase_rules.hpp"
#include "conditions/condition_line.hpp"
#include "custodian/authoring/path.hpp"
#include "shared/big_endian.hpp"

namespace custodian::recipes_detail {
namespace {

constexpr std::string_view protection_prefix = "_c_";
/// The size of an id with hyphens, as Curator and this library write it, and of one without, as
/// kazoo does.
constexpr std::size_t long_id_size = 36;
constexpr std::size_t short_id_size = 32;

bool is_id(std::string_view text) {
  const bool is_long = text.size() == long_id_size;
  if (!is_long && text.size() != short_id_size) return false;
  const auto is_of_id = [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (is_long && c == '-');
  };
  return std::ranges::all_of(text, is_of_id);
}

/// The part of a name behind "_c_<uuid>-"; empty if the name has no such beginning.
std::string_view behind_id(std::string_view name) {
  constexpr std::size_t size = protection_prefix.size() + long_id_size + 1;
  const bool is_protected = name.size() > size && name.starts_with(protection_prefix) &&
                            is_id(name.substr(protection_prefix.size(), long_id_size));
  return is_protected ? name.substr(size) : std::string_view{};
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_of_condition(std::string_view name) {
  constexpr std::string_view signal = "sig-";
  return is_waiter(name) || (name.starts_with(signal) && is_waiter(name.substr(signal.size())));
}
bool is_member(std::string_view name) { return is_id(behind_id(name)); }
bool is_of_phase(std::string_view name) {
  constexpr std::string_view phase = "phase-";
  const std::string_view rest = behind_id(name);
  return rest.starts_with(phase) && is_digits(rest.substr(phase.size()));
}
bool is_witness(std::string_view name) { return behind_id(name) == "witness"; }

/// Whether the last line of a node's data is the name of an arrival.
bool ends_with_arrival(std::string_view data) {
  if (!data.ends_with('\n')) return false;
  data.remove_suffix(1);
  return is_of_phase(data.substr(data.rfind('\n') + 1));
}

template <typename Number>
std::optional<std::int64_t> number_in(std::string_view bytes) {
  return from_big_endian<Number>(bytes);
}

}  // namespace

Layout layout_of(const GetResult& node, const std::vector<std::string>& children) {
  const auto has = [&](auto is_of_it) { return std::ranges::any_of(children, is_of_it); };
  const auto is_of_party = [](std::string_view name) {
    return name == ready_name || is_id(name) || is_member(name);
  };
  const bool is_ready = std::ranges::find(children, ready_name) != children.end() &&
                        std::ranges::all_of(children, is_of_party);
  const auto is_ticket = [](std::string_view name) { return ticket_number(name).has_value(); };
  if (has(is_of_condition)) return Layout::condition;
  if (has(is_member) || is_ready || state_of(node.data, {}) != PartyState::unknown) {
    return Layout::double_barrier;
  }
  if (has(is_of_phase) || ends_with_arrival(node.data)) return Layout::phases;
  if (has(is_ticket) && expected_of(node.data)) return Layout::latch;
  if (has(is_id)) return Layout::perhaps_double_barrier;
  if (decode_rate_entry(node.data)) return Layout::rate;
  const bool is_value = has(is_witness) || (children.empty() && !node.data.empty());
  return is_value && node.stat.ephemeral_owner == 0 ? Layout::value : Layout::none;
}

bool belongs_to(Layout layout, std::string_view child) {
  switch (layout) {
    case Layout::condition: return is_of_condition(child);
    case Layout::double_barrier:
    case Layout::perhaps_double_barrier:
      return child == ready_name || is_id(child) || is_member(child);
    case Layout::phases: return is_of_phase(child);
    case Layout::latch: return ticket_number(child).has_value();
    case Layout::value: return is_witness(child);
    case Layout::rate:
    case Layout::none: break;
  }
  return false;
}

std::vector<std::string> arrivals_among(const std::vector<std::string>& children,
                                        std::int32_t phase) {
  std::vector<std::string> arrivals;
  const std::string name = arrival_name(phase);
  for (const std::string& child : children) {
    if (behind_id(child) == name) arrivals.push_back(child);
  }
  return arrivals;
}

InspectedLatch latch_of(const GetResult& node, const std::vector<std::string>& children) {
  return {.expected = expected_of(node.data).value_or(0), .arrivals = arrivals_of(children)};
}

InspectedRate rate_of(const GetResult& node) {
  const RateEntry entry = decode_rate_entry(node.data).value_or(RateEntry{});
  return {.taken = node.stat.modified, .cost = entry.cost, .credit = entry.credit};
}

InspectedValue value_of(GetResult node) {
  std::optional<std::int64_t> number = number_in<std::int64_t>(node.data);
  if (!number) number = number_in<std::int32_t>(node.data);
  return {.data = std::move(node.data),
          .version = node.stat.version,
          .written = node.stat.modified,
          .number = number};
}

void judge_party(InspectedDoubleBarrier& barrier, const GetResult& ready) {
  barrier.is_ready = true;
  barrier.is_stale = true;
  for (InspectedMember& member : barrier.members) {
    const std::string_view name = name_of(member.participant.node);
    const std::int64_t created_by = member.participant.token.value;
    const bool is_counted = counted_by(ready, name, created_by) != Counted::no;
    if (is_counted) barrier.is_stale = false;
    // A member of another library that finds a ready node is in, but writes that into no node.
    member.is_in = is_counted || !is_member(name);
  }
}

}  // namespace custodian::recipes_detail
