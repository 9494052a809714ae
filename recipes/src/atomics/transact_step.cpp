#include "atomics/transact_step.hpp"

namespace custodian::recipes_detail {

CommitStep after_commit(const error_code& error, CommitRefused refused, Doubt doubt,
                        SessionIs session, Settle settle) noexcept {
  if (!error) return CommitStep::done;
  if (error == ErrorCondition::outcome_unknown) {
    const bool has_time = error != Errc::deadline_exceeded_outcome_unknown;
    const bool settles = has_time && settle == Settle::exactly_once;
    return settles && session == SessionIs::the_same ? CommitStep::repeat : CommitStep::fail;
  }
  if (doubt == Doubt::applied_perhaps && session == SessionIs::another) return CommitStep::fail;
  if (refused == CommitRefused::witness) return CommitStep::done;
  if (refused != CommitRefused::conflicting) return CommitStep::fail;
  // The node that exists may be deleted, and then the earlier try may be applied after all.
  const bool is_final = doubt == Doubt::none || error != ServerErrc::node_exists;
  return is_final ? CommitStep::again : CommitStep::fail;
}

}  // namespace custodian::recipes_detail
