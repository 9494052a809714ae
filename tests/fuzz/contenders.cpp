/// \file
/// The children of a lock's node, one a line, whose names anybody may have chosen. Each naming rule
/// reads them; a slow and simple reader here must agree.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

#include "fuzz.hpp"
#include "ordering/contender_order.hpp"
#include "targets.hpp"

namespace custodian::fuzz {
namespace {

using namespace recipes_detail;

/// More children than this would add no cases, and only slow the run.
constexpr std::size_t most_children = 24;

std::vector<std::string> children_in(std::string_view input) {
  auto children = split(input, '\n');
  std::ranges::sort(children);
  children.erase(std::unique(children.begin(), children.end()), children.end());
  if (children.size() > most_children) children.resize(most_children);
  return children;
}

/// The sequence number, if a server's 32-bit counter can have printed it.
std::optional<Sequence> number_in(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos) return std::nullopt;
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  if (text.size() > 10) return std::nullopt;
  std::int64_t number = 0;
  for (const char digit : text) number = number * 10 + (digit - '0');
  if (is_negative) number = -number;
  if (number < INT32_MIN || number > INT32_MAX) return std::nullopt;
  return static_cast<Sequence>(number);
}

ParsedName read_naively(std::string_view name, const NamingRule& rule) {
  for (std::size_t end = name.size() + 1; end-- > 0;) {
    for (const LockName& each : rule.names) {
      if (!name.substr(0, end).ends_with(each.text)) continue;
      const auto number = number_in(name.substr(end));
      if (!number) return MalformedName{};
      return ContenderName{name, each.kind, each.profile, *number};
    }
  }
  return Foreign{};
}

bool same(const ParsedName& left, const ParsedName& right) {
  if (left.index() != right.index()) return false;
  const auto* one = std::get_if<ContenderName>(&left);
  const auto* other = std::get_if<ContenderName>(&right);
  return one == nullptr || std::tie(one->name, one->kind, one->profile, one->sequence) ==
                               std::tie(other->name, other->kind, other->profile, other->sequence);
}

auto place_of(const ContenderName& contender) {
  return std::tuple{contender.sequence, contender.kind == ContenderKind::shared, contender.name};
}

bool excludes(const ContenderName& left, const ContenderName& right) {
  return left.kind == ContenderKind::exclusive || right.kind == ContenderKind::exclusive;
}

void check_listing(const Listing& listing, const std::vector<std::string>& children,
                   const NamingRule& rule) {
  std::size_t contenders = 0;
  for (const std::string& child : children) {
    const ParsedName parsed = parse_name(child, rule);
    require(same(parsed, read_naively(child, rule)), "a name is read as the rule says");
    if (std::holds_alternative<ContenderName>(parsed)) ++contenders;
    const auto index = listing.index_of(child);
    require(index.has_value() == std::holds_alternative<ContenderName>(parsed),
            "each contender is found, and nobody else");
    require(!index || listing.contenders()[*index].name == child, "it is found in its place");
  }
  require(listing.contenders().size() == contenders &&
              contenders + listing.foreign().size() + listing.malformed().size() == children.size(),
          "each child is one thing");
  require(std::ranges::is_sorted(listing.contenders(), {}, place_of), "the order is the numbers'");
}

void check_wait(const Listing& listing, const ContenderName& mine, const Wait& wait) {
  std::size_t position = 0;
  std::optional<ContenderName> nearest;
  for (const ContenderName& other : listing.contenders()) {
    if (!excludes(other, mine) || place_of(other) >= place_of(mine)) continue;
    ++position;
    if (!nearest || place_of(*nearest) < place_of(other)) nearest = other;
  }
  require(position > 0 && wait.position == position, "it waits for those in front");
  require(wait.nearest.name == nearest->name, "it waits for the last of them");
}

/// Checks that no two contenders that exclude each other both hold, whatever their names.
void check_judgements(const Listing& listing, const std::vector<std::string>& children) {
  std::vector<ContenderName> holders;
  for (const std::string& child : children) {
    const Judgement judgement = judge(listing, child);
    const auto index = listing.index_of(child);
    if (std::holds_alternative<Held>(judgement)) holders.push_back(listing.contenders()[*index]);
    if (const auto* wait = std::get_if<Wait>(&judgement)) {
      check_wait(listing, listing.contenders()[*index], *wait);
    }
    require(listing.malformed().empty() || (!std::holds_alternative<Held>(judgement) &&
                                            !std::holds_alternative<Wait>(judgement)),
            "nobody passes a contender whose place is unknown");
  }
  for (std::size_t i = 0; i != holders.size(); ++i) {
    for (std::size_t j = 0; j != i; ++j) {
      require(!excludes(holders[i], holders[j]), "no two hold that exclude each other");
    }
  }
}

void check_protection(const std::string& child) {
  const auto id = protection_id_of(child);
  if (!id) return;
  const std::string again = make_node_name(*id, "lock-") + "0000000001";
  require(child.starts_with("_c_" + std::string{*id} + "-"), "the id is the prefix's");
  require(protection_id_of(again) == id, "a name made with it has it");
  require(std::holds_alternative<ContenderName>(parse_name(again, mutex_rule)), "and is read");
}

}  // namespace

void contenders(std::string_view input) {
  const auto children = children_in(input);
  for (const std::string& child : children) check_protection(child);
  for (const NamingRule& rule :
       {mutex_rule, read_write_rule, latch_rule, election_rule, permit_rule}) {
    const Listing listing{children, rule};
    check_listing(listing, children, rule);
    check_judgements(listing, children);
  }
}

}  // namespace custodian::fuzz
