#include "inspect/queue_reading.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "semaphores/permit_count.hpp"

namespace custodian::recipes_detail {
namespace {

/// A naming rule, and the claims of its exclusive and of its shared contenders.
struct Kind {
  NamingRule rule;
  Claim exclusive{};
  Claim shared{};
};

constexpr std::size_t mutex_kind = 0;
constexpr std::size_t read_write_kind = 1;
constexpr std::array kinds{
    Kind{mutex_rule, Claim::mutex, Claim::mutex},
    Kind{read_write_rule, Claim::write, Claim::read},
    Kind{latch_rule, Claim::leadership, Claim::leadership},
    Kind{permit_rule, Claim::permit, Claim::permit},
};

bool knows(const NamingRule& rule, std::string_view name) {
  return !std::holds_alternative<Foreign>(parse_name(name, rule));
}

Standing standing_of(const Listing& listing, const ContenderName& contender, std::size_t ahead) {
  // Even with no contender ahead, a malformed or exhausted number leaves the order unknown.
  if (ahead > 0) return Standing::waits;
  return std::holds_alternative<Held>(judge(listing, contender.name)) ? Standing::holds
                                                                      : Standing::unclear;
}

void read_queue(const Kind& kind, std::vector<std::string> names, QueueReading& reading) {
  const Listing listing{std::move(names), kind.rule};
  for (std::size_t i = 0; i != listing.contenders().size(); ++i) {
    const ContenderName& contender = listing.contenders()[i];
    const bool is_permit = kind.exclusive == Claim::permit;
    const std::size_t ahead = is_permit ? 0 : listing.blockers_of(i);
    reading.standpoints.push_back(
        {.name = std::string{contender.name},
         .claim = contender.kind == ContenderKind::exclusive ? kind.exclusive : kind.shared,
         .standing = is_permit ? Standing::holds : standing_of(listing, contender, ahead),
         .ahead = ahead,
         .profile = contender.profile});
  }
  const auto malformed = listing.malformed();
  reading.malformed.insert(reading.malformed.end(), malformed.begin(), malformed.end());
}

}  // namespace

QueueReading read_queues(std::vector<std::string> children) {
  // 1. Sort the children by the first rule that reads their names.
  QueueReading reading;
  std::array<std::vector<std::string>, kinds.size()> queues;
  for (std::string& child : children) {
    const auto kind = std::ranges::find_if(
        kinds, [&](const Kind& candidate) { return knows(candidate.rule, child); });
    auto& into = kind == kinds.end() ? reading.foreign
                                     : queues.at(static_cast<std::size_t>(kind - kinds.begin()));
    into.push_back(std::move(child));
  }
  // 2. kazoo gives a mutex's node and a writer's node the same name, so step 1 takes both for a
  //    mutex's. Beside readers or writers such a node is a writer's.
  auto& of_mutex = queues[mutex_kind];
  auto& of_read_write = queues[read_write_kind];
  if (!of_read_write.empty()) {
    const auto [writers, end] = std::ranges::partition(
        of_mutex, [](const std::string& name) { return !knows(read_write_rule, name); });
    std::move(writers, end, std::back_inserter(of_read_write));
    of_mutex.erase(writers, end);
  }
  // 3. Put each queue in order.
  for (std::size_t i = 0; i != kinds.size(); ++i) {
    read_queue(kinds.at(i), std::move(queues.at(i)), reading);
  }
  std::ranges::sort(reading.foreign);
  return reading;
}

void judge_permit(QueueReading& permits, PermitOf which, std::size_t maximum) {
  Standpoint& permit = permits.standpoints[which.index];
  // If the owner has left the line, it holds the permit.
  if (!which.owner_is_taking) return;
  if (maximum == 0) {
    permit.standing = Standing::unclear;
    return;
  }
  std::vector<std::string> names = permits.malformed;
  for (const Standpoint& each : permits.standpoints) names.push_back(each.name);
  const std::string_view mine = permit.name;
  const auto judgement =
      judge_permits(Listing{std::move(names), permit_rule}, std::array{mine}, maximum);
  if (const auto* full = std::get_if<Full>(&judgement)) {
    permit.standing = Standing::waits;
    permit.ahead = full->missing;
  } else if (!std::holds_alternative<Held>(judgement)) {
    permit.standing = Standing::unclear;
  }
}

}  // namespace custodian::recipes_detail
