#include "custodian/semaphores/inter_process_semaphore.hpp"

#include <utility>

#include "acquire/hold_pool.hpp"
#include "async/block_in_time.hpp"
#include "semaphores/semaphore_spec.hpp"

namespace custodian {

using recipes_detail::Outcome;
using recipes_detail::SemaphoreSpecPtr;

namespace recipes_detail {

namespace {

Handler<Outcome> as_permits(Handler<PermitsResult> handler) {
  return [handler = std::move(handler)](error_code error, Outcome outcome) mutable {
    std::move(handler)(error, PermitsResult{.permits = std::move(outcome.leases),
                                            .blocked_by = std::move(outcome.blocked_by),
                                            .reason = outcome.reason});
  };
}

}  // namespace

void start_acquire_permits(CorePtr, CancellationPtr cancellation, SemaphoreSpecPtr spec,
                           int permits, AcquireOptions options,
                           Handler<std::vector<Lease>> handler) {
  start_acquire_permits_within(
      spec, std::move(cancellation), permits, {}, std::move(options),
      [handler = std::move(handler)](error_code error, Outcome outcome) mutable {
        std::move(handler)(error, std::move(outcome.leases));
      });
}

void start_try_acquire_permits(CorePtr, CancellationPtr cancellation, SemaphoreSpecPtr spec,
                               int permits, AcquireOptions options,
                               Handler<PermitsResult> handler) {
  start_acquire_permits_within(spec, std::move(cancellation), permits, {.only_try = true},
                               std::move(options), as_permits(std::move(handler)));
}

void start_try_acquire_permits_until(CorePtr, CancellationPtr cancellation, SemaphoreSpecPtr spec,
                                     int permits, Deadline deadline, AcquireOptions options,
                                     Handler<PermitsResult> handler) {
  start_acquire_permits_within(spec, std::move(cancellation), permits, wait_limit_until(deadline),
                               std::move(options), as_permits(std::move(handler)));
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

AcquireResult as_one(PermitsResult result) {
  AcquireResult one{
      .lease = {}, .blocked_by = std::move(result.blocked_by), .reason = result.reason};
  if (!result.permits.empty()) one.lease = std::move(result.permits.front());
  return one;
}

// What the semaphore and its counting view share.

std::vector<Lease> acquire_from(const SemaphoreSpecPtr& spec, int permits, AcquireOptions options,
                                std::stop_token stop) {
  check_permits(*spec, "acquire", permits);
  const auto core = spec->turnstile->client.core();
  auto [error, leases] = block<&recipes_detail::start_acquire_permits, std::vector<Lease>>(
      core, "acquire", spec->path, std::move(stop), spec, permits, std::move(options));
  throw_if(*core, error, "acquire", spec->path);
  return std::move(leases);
}

PermitsResult try_from(const SemaphoreSpecPtr& spec, int permits, AcquireOptions options) {
  check_permits(*spec, "try_acquire", permits);
  const Client& client = spec->turnstile->client;
  return recipes_detail::block_in_time<&recipes_detail::start_try_acquire_permits, PermitsResult>(
      client, "try_acquire", spec->path, {}, recipes_detail::end_of(client, {}), spec, permits,
      std::move(options));
}

PermitsResult try_from_until(const SemaphoreSpecPtr& spec, int permits, Deadline deadline,
                             AcquireOptions options, std::stop_token stop) {
  check_permits(*spec, "try_acquire_until", permits);
  const Client& client = spec->turnstile->client;
  const Deadline end = recipes_detail::end_of(client, deadline.or_default(Deadline::never()));
  return recipes_detail::block_in_time<&recipes_detail::start_try_acquire_permits_until,
                                       PermitsResult>(client, "try_acquire_until", spec->path,
                                                      std::move(stop), end, spec, permits, deadline,
                                                      std::move(options));
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

Lease InterProcessSemaphore::acquire(AcquireOptions options, std::stop_token stop) {
  return std::move(acquire(1, std::move(options), std::move(stop)).front());
}

std::vector<Lease> InterProcessSemaphore::acquire(int permits, AcquireOptions options,
                                                  std::stop_token stop) {
  return acquire_from(spec_, permits, std::move(options), std::move(stop));
}

AcquireResult InterProcessSemaphore::try_acquire(AcquireOptions options) {
  return as_one(try_acquire(1, std::move(options)));
}

PermitsResult InterProcessSemaphore::try_acquire(int permits, AcquireOptions options) {
  return try_from(spec_, permits, std::move(options));
}

AcquireResult InterProcessSemaphore::try_acquire_until(Deadline deadline, AcquireOptions options,
                                                       std::stop_token stop) {
  return as_one(try_acquire_until(1, deadline, std::move(options), std::move(stop)));
}

PermitsResult InterProcessSemaphore::try_acquire_until(int permits, Deadline deadline,
                                                       AcquireOptions options,
                                                       std::stop_token stop) {
  return try_from_until(spec_, permits, deadline, std::move(options), std::move(stop));
}

std::vector<Participant> InterProcessSemaphore::participants(OperationOptions options) const {
  auto [error, holders] = block<&recipes_detail::start_permit_holders, std::vector<Participant>>(
      core_, "participants", path(), {}, spec_, options);
  throw_if(*core_, error, "participants", path());
  return std::move(holders);
}

std::size_t InterProcessSemaphore::queue_length(OperationOptions options) const {
  auto [error, length] = block<&recipes_detail::start_permit_queue_length, std::size_t>(
      core_, "queue_length", path(), {}, spec_, options);
  throw_if(*core_, error, "queue_length", path());
  return length;
}

// -- The shape of std::counting_semaphore ---------------------------------------------------------

using Counting = InterProcessSemaphore::Counting;

Counting::Counting(const InterProcessSemaphore& semaphore)
    : spec_{semaphore.spec_}, pool_{std::make_shared<recipes_detail::HoldPool<Lease>>()} {}

void Counting::acquire() { pool_->put(acquire_from(spec_, 1, {}, {})); }

bool Counting::try_acquire() { return pool_->put(try_from(spec_, 1, {}).permits); }

bool Counting::try_acquire_until(Deadline deadline) {
  return pool_->put(try_from_until(spec_, 1, deadline, {}, {}).permits);
}

void Counting::release(std::ptrdiff_t permits) { pool_->release(permits, "release", spec_->path); }

}  // namespace custodian
