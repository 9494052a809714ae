#include "custodian/semaphores/inter_process_semaphore.hpp"

#include <utility>

#include "acquire/hold_pool.hpp"
#include "async/block_in_time.hpp"
#include "kept/kept_locks.hpp"
#include "semaphores/semaphore_spec.hpp"

namespace custodian {

using recipes_detail::Acquired;
using recipes_detail::Permits;
using recipes_detail::SemaphoreSpecPtr;

namespace recipes_detail {

namespace {

Handler<Acquired> as_permits(Handler<PermitsResult> handler) {
  return [handler = std::move(handler)](error_code error, Acquired acquired) mutable {
    std::move(handler)(error, PermitsResult{.permits = std::move(acquired.leases),
                                            .blocked_by = std::move(acquired.blocked_by),
                                            .reason = acquired.reason,
                                            .deadlock = std::move(acquired.deadlock)});
  };
}

}  // namespace

void start_acquire_permit(CorePtr, CancellationPtr cancellation, SemaphoreSpecPtr spec,
                          WaitLimit limit, AcquireOptions options, Handler<AcquireResult> handler) {
  const WaitLimit from_now = limit.from_now();
  if (start_by_kept_lock(spec->turnstile, cancellation, from_now, options, handler)) return;
  start_acquire_permits_within(spec, std::move(cancellation), 1, from_now, std::move(options),
                               as_one_lease(std::move(handler)));
}

void start_acquire_permits(CorePtr, CancellationPtr cancellation, Permits permits, WaitLimit limit,
                           AcquireOptions options, Handler<PermitsResult> handler) {
  start_acquire_permits_within(permits.spec, std::move(cancellation), permits.count,
                               limit.from_now(), std::move(options),
                               as_permits(std::move(handler)));
}

void start_permit_holders(CorePtr core, CancellationPtr cancellation, SemaphoreSpecPtr spec,
                          OperationOptions options, Handler<std::vector<Participant>> handler) {
  start_participants(std::move(core), std::move(cancellation), spec->leases, options,
                     std::move(handler));
}

void start_permit_queue_length(CorePtr core, CancellationPtr cancellation, SemaphoreSpecPtr spec,
                               OperationOptions options, Handler<std::size_t> handler) {
  start_queue_length(std::move(core), std::move(cancellation), spec->turnstile, options,
                     std::move(handler));
}

}  // namespace recipes_detail

namespace {

PermitsResult acquire_from(const SemaphoreSpecPtr& spec, std::string_view operation, int permits,
                           const WaitLimit& limit, AcquireOptions options, std::stop_token stop) {
  check_permits(*spec, operation, permits);
  return recipes_detail::block_in_time<&recipes_detail::start_acquire_permits, PermitsResult>(
      spec->turnstile->client, operation, spec->path, Permits{spec, permits}, limit,
      std::move(options), std::move(stop));
}

}  // namespace

InterProcessSemaphore::InterProcessSemaphore(const Client& client, const std::string& path,
                                             int maximum, const LockOptions& options)
    : core_{client.core()},
      spec_{recipes_detail::make_semaphore_spec(client, "InterProcessSemaphore", path, maximum,
                                                options)} {}

InterProcessSemaphore::InterProcessSemaphore(const Client& client, const std::string& path,
                                             const SharedCount& maximum, const LockOptions& options)
    : core_{client.core()},
      spec_{recipes_detail::make_semaphore_spec(client, "InterProcessSemaphore", path,
                                                maximum.state(), options)} {}

const std::string& InterProcessSemaphore::path() const noexcept { return spec_->path; }

AcquireResult InterProcessSemaphore::acquire_within(std::string_view operation,
                                                    const WaitLimit& limit, AcquireOptions options,
                                                    std::stop_token stop) const {
  return acquire_permit(spec_, operation, limit, std::move(options), std::move(stop));
}

std::vector<Lease> InterProcessSemaphore::acquire(int permits, AcquireOptions options,
                                                  std::stop_token stop) {
  return acquire_from(spec_, "acquire", permits, {}, std::move(options), std::move(stop)).permits;
}

PermitsResult InterProcessSemaphore::try_acquire(int permits, AcquireOptions options) {
  return acquire_from(spec_, "try_acquire", permits, {.try_once = true}, std::move(options), {});
}

PermitsResult InterProcessSemaphore::try_acquire_until(int permits, Deadline deadline,
                                                       AcquireOptions options,
                                                       std::stop_token stop) {
  return acquire_from(spec_, "try_acquire_until", permits, {.deadline = deadline},
                      std::move(options), std::move(stop));
}

std::vector<Participant> InterProcessSemaphore::participants(OperationOptions options) const {
  return block_in_time_or_throw<&recipes_detail::start_permit_holders, std::vector<Participant>>(
      core_, "participants", path(), {}, {options.deadline}, spec_, options);
}

std::size_t InterProcessSemaphore::queue_length(OperationOptions options) const {
  return block_in_time_or_throw<&recipes_detail::start_permit_queue_length, std::size_t>(
      core_, "queue_length", path(), {}, {options.deadline}, spec_, options);
}

// -- The shape of std::counting_semaphore ---------------------------------------------------------

using Counting = InterProcessSemaphore::Counting;

Counting::Counting(const InterProcessSemaphore& semaphore)
    : spec_{semaphore.spec_}, pool_{std::make_shared<recipes_detail::HoldPool<Lease>>()} {}

void Counting::acquire() { pool_->put(acquire_permit(spec_, "acquire", {}, {}, {}).lease); }

bool Counting::try_acquire() {
  return pool_->put(acquire_permit(spec_, "try_acquire", {.try_once = true}, {}, {}).lease);
}

bool Counting::try_acquire_until(Deadline deadline) {
  return pool_->put(
      acquire_permit(spec_, "try_acquire_until", {.deadline = deadline}, {}, {}).lease);
}

void Counting::release(std::ptrdiff_t permits) { pool_->release(permits, "release", spec_->path); }

}  // namespace custodian
