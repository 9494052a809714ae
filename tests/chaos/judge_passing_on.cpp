#include <map>

#include "judge_parts.hpp"

namespace custodian::chaos {

void judge_passing_on(const History& history, const Holds& holds, Verdict& verdict) {
  for (const auto& [lock, in_order] : holds.by_lock()) {
    const auto allowed = history.passes.find(lock);
    const std::int64_t passes = allowed == history.passes.end() ? 0 : allowed->second;
    std::map<Token, const Acquire*> latest;  // the latest hold with each node
    for (const Acquire* hold : in_order) {
      const auto report = [&, hold](const std::string& what) {
        verdict.violations.push_back({Rule::rightly_passed_on, describe(*hold) + what});
      };
      if (hold->token.grant > 0) ++verdict.locks[lock].passed_on;
      if (hold->token.grant > passes)
        report(" is passed on more often than " + std::to_string(passes) + " times");

      const auto [place, first] = latest.try_emplace(first_of_node(hold->token), hold);
      if (first) continue;
      const Acquire& before = *place->second;
      if (before.process != hold->process || before.node != hold->node)
        report(" has the node of another process, " + describe(before));
      if (before.lost && *before.lost <= hold->granted.value_or(never))
        report(" was passed on by " + describe(before) + ", which was told of its loss");
      place->second = hold;
    }
  }
}

}  // namespace custodian::chaos
