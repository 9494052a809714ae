#include "queue/queue_view.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "queue/owner_text.hpp"
#include "queue/recipe_view.hpp"
#include "text/printable_text.hpp"
#include "text/table.hpp"
#include "text/time_text.hpp"

namespace custodian::cli {
namespace {

using std::chrono::system_clock;

/// The queue that contenders with this claim stand in: readers and writers share one.
Claim queue_of(Claim claim) { return claim == Claim::read ? Claim::write : claim; }

std::string identity_text(const Inspected& inspected) {
  const std::string text = identity_or_dash(inspected.participant.identity);
  return inspected.is_asked_to_release ? text + " (asked to release)" : text;
}

/// The columns that change, or that people look for first, come first, so that a narrow terminal
/// still shows them.
std::vector<std::string> head_of(const QueueView& view) {
  std::vector<std::string> head{"#", "STATE", "KIND", "IDENTITY", "AGE", "SESSION"};
  if (view.addresses) head.emplace_back("ADDRESS");
  head.insert(head.end(), {"TOKEN", "QUEUED", "NODE"});
  return head;
}

std::vector<std::string> row_of(const Inspected& each, std::size_t position, const QueueView& view,
                                system_clock::time_point now) {
  const Participant& who = each.participant;
  std::vector<std::string> row{
      std::to_string(position),           std::string{to_string(each.standing)},
      std::string{to_string(each.claim)}, identity_text(each),
      age_text(now - who.since),          session_or_none(who.session)};
  if (view.addresses)
    row.push_back(printable(address_of(who.session, view.addresses).value_or("unknown")));
  row.insert(row.end(), {custodian::to_string(who.token), plain_time(who.since),
                         printable(name_below(who.node, view.path))});
  return row;
}

}  // namespace

std::string_view to_string(Claim claim) noexcept {
  switch (claim) {
    case Claim::mutex: return "mutex";
    case Claim::write: return "write";
    case Claim::read: return "read";
    case Claim::leadership: return "leadership";
    case Claim::permit: return "permit";
    case Claim::turn: return "turn";
  }
  return "";
}

std::string_view to_string(Standing standing) noexcept {
  switch (standing) {
    case Standing::holds: return "holds";
    case Standing::waits: return "waits";
    case Standing::unclear: return "unclear";
  }
  return "";
}

std::vector<std::size_t> positions_of(const Inspection& inspection) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i != inspection.contenders.size(); ++i) {
    const bool continues = i > 0 && queue_of(inspection.contenders[i].claim) ==
                                        queue_of(inspection.contenders[i - 1].claim);
    positions.push_back(continues ? positions.back() + 1 : 1);
  }
  return positions;
}

std::vector<std::string> lines_of(const QueueView& view, system_clock::time_point now) {
  const Inspection& seen = view.inspection;
  std::vector<std::string> lines =
      lines_of(RecipeView{seen.recipe, view.path, view.addresses}, now);
  const bool is_recipe = !lines.empty();
  if (seen.contenders.empty()) {
    if (!is_recipe) lines.push_back("nobody holds or waits at " + printable(view.path));
  } else {
    std::vector<std::vector<std::string>> rows{head_of(view)};
    const std::vector<std::size_t> positions = positions_of(seen);
    for (std::size_t i = 0; i != positions.size(); ++i) {
      rows.push_back(row_of(seen.contenders[i], positions[i], view, now));
    }
    lines = aligned(rows);
  }
  if (view.around) {
    Surroundings around = *view.around;
    if (is_recipe) around.data_length = 0;  // the recipe's own data
    std::ranges::move(lines_of(around), std::back_inserter(lines));
  }
  for (const std::string& node : seen.malformed) {
    lines.push_back("bears no number, and stops the queue; remove it: " + printable(node));
  }
  for (const std::string& node : seen.foreign) {
    if (view.around && is_named(*view.around, node)) continue;
    lines.push_back("takes no part: " + printable(node));
  }
  return lines;
}

Json json_of(const Inspected& inspected, std::size_t position) {
  Json json;
  json["position"] = position;
  json["state"] = to_string(inspected.standing);
  json["kind"] = to_string(inspected.claim);
  put_participant(json, inspected.participant);
  json["ahead"] = inspected.ahead;
  json["profile"] = inspected.profile == NamingProfile::kazoo ? "kazoo" : "curator";
  json["asked_to_let_go"] = inspected.is_asked_to_release;
  return json;
}

Json json_of(const QueueView& view) {
  Json json;
  json["path"] = view.path;
  json["queue"] = Json::array();
  const std::vector<std::size_t> positions = positions_of(view.inspection);
  for (std::size_t i = 0; i != positions.size(); ++i) {
    const Inspected& each = view.inspection.contenders[i];
    Json entry = json_of(each, positions[i]);
    entry["address"] = nullptr;
    if (const auto address = address_of(each.participant.session, view.addresses)) {
      entry["address"] = *address;
    }
    json["queue"].push_back(std::move(entry));
  }
  json["recipe"] = json_of(RecipeView{view.inspection.recipe, view.path, view.addresses});
  json["malformed"] = view.inspection.malformed;
  json["foreign"] = view.inspection.foreign;
  if (view.around) put_surroundings(json, *view.around);
  return json;
}

std::string description_of(const Inspected& inspected, system_clock::time_point now) {
  const Participant& who = inspected.participant;
  std::string text = identity_text(inspected);
  text.append(", ").append(to_string(inspected.claim)).append(", ");
  text.append(to_string(inspected.standing));
  text.append(", queued ").append(age_text(now - who.since)).append(" ago");
  text.append(", session ").append(session_or_none(who.session));
  return text.append(", token ").append(custodian::to_string(who.token));
}

}  // namespace custodian::cli
