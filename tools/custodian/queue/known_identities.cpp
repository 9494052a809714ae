#include "queue/known_identities.hpp"

#include <utility>

namespace custodian::cli {

void KnownIdentities::complete(Inspection& seen) {
  std::unordered_map<std::string, Known> now;
  for (Inspected& each : seen.contenders) {
    Participant& who = each.participant;
    if (each.is_asked_to_release && who.identity.empty()) {
      const auto before = known_.find(who.node);
      if (before == known_.end() || before->second.transaction != who.token.value) continue;
      who.identity = before->second.identity;
    }
    now.insert_or_assign(who.node, Known{who.token.value, who.identity});
  }
  known_ = std::move(now);
}

}  // namespace custodian::cli
