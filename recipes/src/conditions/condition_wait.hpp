#pragma once

/// \file
/// The wait at a condition, from the holder's lock to the lock again.

#include <boost/asio/awaitable.hpp>
#include <stop_token>

#include "conditions/condition_spec.hpp"
#include "custodian/authoring/result.hpp"
#include "custodian/conditions/inter_process_condition.hpp"

namespace custodian::recipes_detail {

/// Waits at the condition. `lease` is on its lock, and the only one that shares the hold. `stop`
/// and `until` end the sleep, and not the acquire after it; `cancellation` ends all.
[[nodiscard]] boost::asio::awaitable<Result<Woken>> wait_at(ConditionSpecPtr condition,
                                                            CancellationPtr cancellation,
                                                            Lease lease, Deadline until,
                                                            std::stop_token stop);

}  // namespace custodian::recipes_detail
