#pragma once

/// \file
/// Stripes has the data that all acquires of one StripedMutex share.

#include <string>
#include <vector>

#include "custodian/locks/striped_mutex.hpp"
#include "ordering/lock_spec.hpp"

namespace custodian::recipes_detail {

/// The mutexes side by side. Immutable.
struct Stripes {
  std::string path;
  std::vector<LockSpecPtr> specs;
  /// The same mutexes, divided by their clients. Empty if all have the same client.
  std::vector<StripesPtr> homes{};
};

/// The index of the stripe to which a lease belongs.
[[nodiscard]] std::size_t index_of(const Stripes& stripes, const Lease& lease);

/// Starts an acquire of any of these stripes, which must have the same client; from any thread. The
/// handler runs on that client's strand, or within this call.
void start_acquire_any_within(const StripesPtr& stripes, CancellationPtr cancellation,
                              WaitLimit wait_limit, AcquireOptions options,
                              Handler<StripeLease> handler);

}  // namespace custodian::recipes_detail
