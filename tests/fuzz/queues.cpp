/// \file
/// The children of any node, one a line, as the command shows them to people who do not know what
/// the node is.

#include <algorithm>

#include "fuzz.hpp"
#include "inspect/queue_reading.hpp"
#include "targets.hpp"

namespace custodian::fuzz {

void queues(std::string_view input) {
  using namespace recipes_detail;
  auto children = split(input, '\n');
  std::ranges::sort(children);
  children.erase(std::unique(children.begin(), children.end()), children.end());

  QueueReading reading = read_queues(children);
  std::vector<std::string> told = reading.malformed;
  told.insert(told.end(), reading.foreign.begin(), reading.foreign.end());
  for (const Standpoint& each : reading.standpoints) told.push_back(each.name);
  std::ranges::sort(told);
  require(told == children, "each child is told, once");

  for (const Claim claim : {Claim::mutex, Claim::write, Claim::leadership}) {
    const auto holds = std::ranges::count_if(reading.standpoints, [&](const Standpoint& each) {
      return each.claim == claim && each.standing == Standing::holds;
    });
    require(holds <= 1, "what excludes others has one holder");
  }
  for (const Standpoint& each : reading.standpoints) {
    require((each.ahead > 0) == (each.standing == Standing::waits), "who waits has some in front");
  }

  for (std::size_t i = 0; i != reading.standpoints.size(); ++i) {
    if (reading.standpoints[i].claim != Claim::permit) continue;
    for (const std::size_t maximum : {0U, 1U, 3U}) {
      judge_permit(reading, {.index = i, .owner_is_taking = true}, maximum);
      const Standpoint& permit = reading.standpoints[i];
      require(maximum > 0 || permit.standing == Standing::unclear,
              "without a maximum none is clear");
    }
  }
}

}  // namespace custodian::fuzz
