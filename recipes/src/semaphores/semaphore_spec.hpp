#pragma once

/// \file
/// SemaphoreSpec is the common part of InterProcessSemaphore and InterProcessSemaphoreMutex: the
/// data of a semaphore, and the acquire of its permits.

#include <stop_token>
#include <string>
#include <string_view>
#include <variant>

#include "acquire/contender.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"

namespace custodian::recipes_detail {

/// The number of permits: constant, or the present value of a counter of the same client.
using Maximum = std::variant<int, SharedNodePtr>;

/// Each permit is a node. The limit keeps a listing of the permits far below some ten thousand
/// names: servers do not send more than that.
inline constexpr int most_permits_at_once = 1000;

/// The common part of all acquires of one semaphore object. Immutable. The nodes are laid out as
/// Apache Curator's.
struct SemaphoreSpec {
  LockSpecPtr turnstile;  ///< at `path`/locks: the first contender may take permits
  LockSpecPtr leases;     ///< at `path`/leases: each node is a permit, taken or about to be
  std::string path;
  Maximum maximum;
};

/// Makes the spec. `name` is the name of the recipe's class, for errors.
[[nodiscard]] SemaphoreSpecPtr make_semaphore_spec(const Client& client, std::string_view name,
                                                   const std::string& path, Maximum maximum,
                                                   const LockOptions& options, bool keeps = false);

/// Throws invalid_argument if this number of permits can never be granted.
void check_permits(const SemaphoreSpec& spec, std::string_view operation, int permits);

/// Starts an acquire of all these permits or none, from any thread. The handler runs on the strand,
/// or within this call.
void start_acquire_permits_within(const SemaphoreSpecPtr& spec, CancellationPtr cancellation,
                                  int permits, WaitLimit wait_limit, AcquireOptions options,
                                  Handler<Acquired> handler);

/// Waits for one permit. Throws Error.
[[nodiscard]] AcquireResult acquire_permit(const SemaphoreSpecPtr& spec, std::string_view operation,
                                           const WaitLimit& limit, AcquireOptions options,
                                           std::stop_token stop);

}  // namespace custodian::recipes_detail
