#pragma once

/// \file
/// start_acquire_within() starts an acquire of one lock: in the queue, or beside a lease of the
/// same caller.

#include "acquire/acquire.hpp"

namespace custodian::recipes_detail {

/// Starts an acquire that enters the queue itself and joins no cohort, from any thread. The handler
/// runs on the strand, or within this call.
///
/// `held` must be empty, or the caller's lease on this lock. With a lease the caller gets another
/// lease on the same hold, or the shared lock beside the exclusive one, or the error of
/// objection_to().
void start_acquire_within(const LockSpecPtr& spec, CancellationPtr cancellation,
                          WaitLimit wait_limit, AcquireOptions options, Lease held,
                          Handler<AcquireResult> handler);

}  // namespace custodian::recipes_detail
