#pragma once

/// \file
/// An acquire of any stripe, where the stripes have several homes: each home's stripes are acquired
/// on the strand of their client, and the first lease that is granted is the result.

#include <vector>

#include "locks/stripes.hpp"

namespace custodian::recipes_detail {

/// Divides stripes by their clients; nothing if all have the same client.
[[nodiscard]] std::vector<StripesPtr> divided_by_home(const Stripes& stripes);

/// Starts an acquire of any of these stripes, which must have several clients; from any thread. The
/// handler runs on the first stripe's strand, or within this call.
void start_acquire_any_at_homes(const StripesPtr& stripes, CancellationPtr cancellation,
                                WaitLimit wait_limit, AcquireOptions options,
                                Handler<StripeLease> handler);

}  // namespace custodian::recipes_detail
