#include "queue/recipe_view.hpp"

#include <algorithm>
#include <iterator>

#include "queue/owner_text.hpp"
#include "text/duration.hpp"
#include "text/printable_text.hpp"
#include "text/table.hpp"
#include "text/time_text.hpp"

namespace custodian::cli {
namespace {

using std::chrono::system_clock;

/// A client that takes part, and how.
struct Part {
  std::string_view state;
  const Participant& who;
};
using Parts = std::vector<Part>;

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

template <typename Entries, typename Member>
std::size_t count_of(const Entries& entries, Member member) {
  return static_cast<std::size_t>(std::ranges::count(entries, true, member));
}

std::string number_text(std::size_t number) { return std::to_string(number); }

/// "1 waits", "2 wait".
std::string wait_text(std::size_t number) {
  return number_text(number) + (number == 1 ? " waits" : " wait");
}

Parts parts_of(const InspectedRecipe& recipe) {
  Parts parts;
  const auto add = [&](std::string_view state, const Participant& who) {
    parts.push_back({state, who});
  };
  std::visit(Overloaded{[&](const InspectedCondition& condition) {
                          for (const auto& each : condition.waiters) {
                            add(each.is_signalled ? "signalled" : "waits", each.participant);
                          }
                        },
                        [&](const InspectedDoubleBarrier& barrier) {
                          for (const auto& each : barrier.members) {
                            add(each.is_in ? "in" : "waits", each.participant);
                          }
                        },
                        [&](const InspectedPhases& phases) {
                          for (const auto& each : phases.arrivals) add("waits", each);
                        },
                        [&](const InspectedValue& value) {
                          for (const auto& each : value.witnesses) add("updates", each);
                        },
                        [](const auto& /*other*/) {}},
             recipe);
  return parts;
}

bool is_decimal(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_plain_text(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

std::string head_of(const InspectedCondition& condition) {
  const std::size_t signalled = count_of(condition.waiters, &InspectedWaiter::is_signalled);
  return "a condition: " + wait_text(condition.waiters.size()) + ", " + number_text(signalled) +
         " of them signalled";
}

std::string head_of(const InspectedDoubleBarrier& barrier) {
  const std::size_t in = count_of(barrier.members, &InspectedMember::is_in);
  const std::string waiting = wait_text(barrier.members.size() - in);
  if (!barrier.is_ready) return "a double barrier: " + waiting + " for a party";
  if (barrier.is_stale) {
    return "a double barrier: the ready node is stale, for nobody of its party is there; " +
           waiting;
  }
  return "a double barrier: a party of " + number_text(in) + " is under way, " + waiting;
}

std::string head_of(const InspectedPhases& phases) {
  std::string text = "a barrier: " + wait_text(phases.arrivals.size()) + " in phase " +
                     std::to_string(phases.phase);
  if (phases.left_over == 0) return text;
  return text +
         "; nodes of other phases, which count for nothing: " + number_text(phases.left_over);
}

std::string head_of(const InspectedLatch& latch) {
  return "a latch: " + std::to_string(latch.arrivals) + " of " + std::to_string(latch.expected) +
         " have arrived" + (latch.arrivals >= latch.expected ? ", it is open" : "");
}

std::string head_of(const InspectedRate& rate) {
  return "a rate limiter: permits worth " + format_duration(rate.cost) + " were taken at " +
         plain_time(rate.taken) + "; left before: " +
         (rate.credit.count() < 0 ? "-" + format_duration(-rate.credit)
                                  : format_duration(rate.credit));
}

std::string head_of(const InspectedValue& value) {
  const std::string rest = " (" + number_text(value.data.size()) + " bytes, version " +
                           std::to_string(value.version) + ", written " +
                           plain_time(value.written) + ")";
  if (value.data.empty()) return "a node of witnesses, without data";
  if (value.number && !is_plain_text(value.data)) {
    return "a number: " + std::to_string(*value.number) + rest;
  }
  const std::string_view also =
      is_decimal(value.data) ? "a latch at which nobody has arrived: " : "a barrier that is set: ";
  return "a value, or " + std::string{also} + printable(value.data) + rest;
}

std::string head_of(std::monostate /*none*/) { return {}; }

void put(Json& json, const InspectedCondition& condition) {
  json["left_signals"] = condition.left_signals;
}
void put(Json& json, const InspectedDoubleBarrier& barrier) {
  json["ready"] = barrier.is_ready;
  json["stale"] = barrier.is_stale;
}
void put(Json& json, const InspectedPhases& phases) {
  json["phase"] = phases.phase;
  json["left_over"] = phases.left_over;
}
void put(Json& json, const InspectedLatch& latch) {
  json["expected"] = latch.expected;
  json["arrivals"] = latch.arrivals;
}
void put(Json& json, const InspectedRate& rate) {
  json["taken"] = iso_time(rate.taken);
  json["cost_ns"] = rate.cost.count();
  json["credit_ns"] = rate.credit.count();
}
void put(Json& json, const InspectedValue& value) {
  json["data"] = nullptr;
  if (is_utf8(value.data)) json["data"] = value.data;
  json["data_hex"] = to_hex(value.data);
  json["number"] = nullptr;
  if (value.number) json["number"] = *value.number;
  json["version"] = value.version;
  json["written"] = iso_time(value.written);
}
void put(Json& /*json*/, std::monostate /*none*/) {}

std::vector<std::string> table_of(const RecipeView& view, system_clock::time_point now) {
  const Parts parts = parts_of(view.recipe);
  if (parts.empty()) return {};
  std::vector<std::string> head{"#", "STATE", "IDENTITY", "AGE", "SESSION"};
  if (view.addresses) head.emplace_back("ADDRESS");
  head.insert(head.end(), {"SINCE", "NODE"});
  std::vector<std::vector<std::string>> rows{std::move(head)};
  for (const Part& part : parts) {
    const Participant& who = part.who;
    std::vector<std::string> row{number_text(rows.size()), std::string{part.state},
                                 identity_or_dash(who.identity), age_text(now - who.since),
                                 session_or_none(who.session)};
    if (view.addresses) {
      row.push_back(printable(address_of(who.session, view.addresses).value_or("unknown")));
    }
    row.insert(row.end(), {plain_time(who.since), printable(name_below(who.node, view.path))});
    rows.push_back(std::move(row));
  }
  return aligned(rows);
}

}  // namespace

std::string_view kind_of(const InspectedRecipe& recipe) {
  return std::visit(
      Overloaded{
          [](std::monostate) -> std::string_view { return ""; },
          [](const InspectedCondition&) -> std::string_view { return "InterProcessCondition"; },
          [](const InspectedDoubleBarrier&) -> std::string_view {
            return "DistributedDoubleBarrier";
          },
          [](const InspectedPhases&) -> std::string_view { return "InterProcessBarrier"; },
          [](const InspectedLatch&) -> std::string_view { return "CountDownLatch"; },
          [](const InspectedRate&) -> std::string_view { return "RateLimiter"; },
          [](const InspectedValue&) -> std::string_view { return "value"; }},
      recipe);
}

std::vector<std::int64_t> sessions_in(const InspectedRecipe& recipe) {
  std::vector<std::int64_t> sessions;
  for (const Part& part : parts_of(recipe)) {
    if (part.who.session != 0) sessions.push_back(part.who.session);
  }
  return sessions;
}

std::vector<std::string> lines_of(const RecipeView& view, system_clock::time_point now) {
  std::string head = std::visit([](const auto& recipe) { return head_of(recipe); }, view.recipe);
  if (head.empty()) return {};
  std::vector<std::string> lines{std::move(head)};
  std::ranges::move(table_of(view, now), std::back_inserter(lines));
  if (const auto* condition = std::get_if<InspectedCondition>(&view.recipe)) {
    for (const std::string& signal : condition->left_signals) {
      lines.push_back("a signal without its waiter, for the next one: " + printable(signal));
    }
  }
  return lines;
}

Json json_of(const RecipeView& view) {
  const std::string_view kind = kind_of(view.recipe);
  if (kind.empty()) return nullptr;
  Json json;
  json["kind"] = kind;
  std::visit([&](const auto& recipe) { put(json, recipe); }, view.recipe);
  json["clients"] = Json::array();
  for (const Part& part : parts_of(view.recipe)) {
    Json entry;
    entry["state"] = part.state;
    put_participant(entry, part.who);
    entry["address"] = nullptr;
    if (const auto address = address_of(part.who.session, view.addresses)) {
      entry["address"] = *address;
    }
    json["clients"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace custodian::cli
