#pragma once

/// \file
/// wait_at() is the wait at a condition, until the waiter holds the lock again.

#include <boost/asio/awaitable.hpp>
#include <stop_token>

#include "conditions/condition_spec.hpp"
#include "custodian/authoring/result.hpp"
#include "custodian/conditions/inter_process_condition.hpp"

namespace custodian::recipes_detail {

/// Waits at the condition. `lease` must be a lease on the condition's lock, and no other lease may
/// share its hold. `stop` and `until` end only the sleep, not the acquire after it; `cancellation`
/// ends both.
[[nodiscard]] boost::asio::awaitable<Result<Woken>> wait_at(ConditionSpecPtr condition,
                                                            CancellationPtr cancellation,
                                                            Lease lease, Deadline until,
                                                            std::stop_token stop);

}  // namespace custodian::recipes_detail
