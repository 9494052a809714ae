/// \file
/// The leases of a semaphore: the first line is the maximum, a digit; each other line is a name.
/// Names with a leading '*' belong to one contender that wants all of them.

#include <algorithm>
#include <array>

#include "fuzz.hpp"
#include "semaphores/permit_count.hpp"
#include "targets.hpp"

namespace custodian::fuzz {
namespace {

using namespace recipes_detail;

void check_alone(const Listing& leases, std::size_t maximum) {
  std::size_t held = 0;
  for (const ContenderName& each : leases.contenders()) {
    const PermitJudgement judgement = judge_permits(leases, std::array{each.name}, maximum);
    require(!std::holds_alternative<OwnNodeMissing>(judgement), "what is listed is there");
    if (std::holds_alternative<Held>(judgement)) ++held;
    if (const auto* full = std::get_if<Full>(&judgement)) {
      require(full->missing > 0, "who waits waits for somebody");
      require(!full->nearest || leases.index_of(*full->nearest) < leases.index_of(each.name),
              "who waits waits for one before it");
    }
  }
  // A lease whose number cannot be parsed may be held, too.
  require(held == 0 || held + leases.malformed().size() <= maximum,
          "no more hold than the maximum");
}

}  // namespace

void permits(std::string_view input) {
  const std::string_view first = take_line(input);
  const auto maximum =
      static_cast<std::size_t>(first.empty() ? 0 : static_cast<unsigned char>(first.front()) % 10);
  auto names = split(input, '\n');
  std::vector<std::string> mine;
  for (std::string& name : names) {
    if (!name.starts_with('*')) continue;
    name.erase(0, 1);
    mine.push_back(name);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());

  const Listing leases{std::move(names), permit_rule};
  check_alone(leases, maximum);
  if (mine.empty()) return;
  const std::vector<std::string_view> views{mine.begin(), mine.end()};
  const PermitJudgement judgement = judge_permits(leases, views, maximum);
  const bool all_listed = std::ranges::all_of(
      mine, [&](const std::string& name) { return leases.index_of(name).has_value(); });
  require(all_listed || !std::holds_alternative<Held>(judgement), "nobody holds what is missing");
  if (!std::holds_alternative<Held>(judgement)) return;
  for (const std::string_view each : views) {
    require(std::holds_alternative<Held>(judge_permits(leases, std::array{each}, maximum)),
            "who has all has each");
  }
}

}  // namespace custodian::fuzz
