#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"

#include <utility>

#include "acquire/hold_pool.hpp"
#include "async/block_in_time.hpp"
#include "semaphores/semaphore_spec.hpp"

namespace custodian {

using recipes_detail::block_in_time;
using recipes_detail::end_of;

namespace recipes_detail {

namespace {

void start_permit_within(const SemaphoreSpecPtr& spec, CancellationPtr cancellation,
                         WaitLimit wait_limit, AcquireOptions options,
                         Handler<AcquireResult> handler) {
  start_acquire_permits_within(spec, std::move(cancellation), 1, wait_limit, std::move(options),
                               as_one_lease(std::move(handler)));
}

}  // namespace

void start_acquire_permit(CorePtr, CancellationPtr cancellation, SemaphoreSpecPtr spec,
                          AcquireOptions options, Handler<Lease> handler) {
  start_permit_within(spec, std::move(cancellation), {}, std::move(options),
                      [handler = std::move(handler)](error_code error, AcquireResult one) mutable {
                        std::move(handler)(error, std::move(one.lease));
                      });
}

void start_try_acquire_permit(CorePtr, CancellationPtr cancellation, SemaphoreSpecPtr spec,
                              AcquireOptions options, Handler<AcquireResult> handler) {
  start_permit_within(spec, std::move(cancellation), {.only_try = true}, std::move(options),
                      std::move(handler));
}

void start_try_acquire_permit_until(CorePtr, CancellationPtr cancellation, SemaphoreSpecPtr spec,
                                    Deadline deadline, AcquireOptions options,
                                    Handler<AcquireResult> handler) {
  start_permit_within(spec, std::move(cancellation), wait_limit_until(deadline), std::move(options),
                      std::move(handler));
}

}  // namespace recipes_detail

InterProcessSemaphoreMutex::InterProcessSemaphoreMutex(const Client& client,
                                                       const std::string& path,
                                                       const LockOptions& options)
    : core_{client.core()},
      spec_{recipes_detail::make_semaphore_spec(client, "InterProcessSemaphoreMutex", path, 1,
                                                options)},
      pool_{std::make_unique<recipes_detail::HoldPool<Lease>>()} {}

InterProcessSemaphoreMutex::InterProcessSemaphoreMutex(InterProcessSemaphoreMutex&&) noexcept =
    default;

InterProcessSemaphoreMutex& InterProcessSemaphoreMutex::operator=(
    InterProcessSemaphoreMutex&&) noexcept = default;

InterProcessSemaphoreMutex::~InterProcessSemaphoreMutex() = default;

const std::string& InterProcessSemaphoreMutex::path() const noexcept { return spec_->path; }

const Client& InterProcessSemaphoreMutex::client() const { return spec_->turnstile->client; }

Lease InterProcessSemaphoreMutex::acquire(AcquireOptions options, std::stop_token stop) {
  auto [error, lease] = block<&recipes_detail::start_acquire_permit, Lease>(
      core_, "acquire", path(), std::move(stop), spec_, std::move(options));
  throw_if(*core_, error, "acquire", path());
  return std::move(lease);
}

AcquireResult InterProcessSemaphoreMutex::try_acquire(AcquireOptions options) {
  return try_in("try_acquire", std::move(options));
}

AcquireResult InterProcessSemaphoreMutex::try_acquire_until(Deadline deadline,
                                                            AcquireOptions options,
                                                            std::stop_token stop) {
  return try_until("try_acquire_until", deadline, std::move(options), std::move(stop));
}

AcquireResult InterProcessSemaphoreMutex::try_in(std::string_view operation,
                                                 AcquireOptions options) {
  return block_in_time<&recipes_detail::start_try_acquire_permit, AcquireResult>(
      client(), operation, path(), {}, end_of(client(), {}), spec_, std::move(options));
}

AcquireResult InterProcessSemaphoreMutex::try_until(std::string_view operation, Deadline deadline,
                                                    AcquireOptions options, std::stop_token stop) {
  const Deadline end = end_of(client(), deadline.or_default(Deadline::never()));
  return block_in_time<&recipes_detail::start_try_acquire_permit_until, AcquireResult>(
      client(), operation, path(), std::move(stop), end, spec_, deadline, std::move(options));
}

void InterProcessSemaphoreMutex::lock() {
  auto [error, lease] = block<&recipes_detail::start_acquire_permit, Lease>(
      core_, "lock", path(), {}, spec_, AcquireOptions{});
  throw_if(*core_, error, "lock", path());
  pool_->put(std::move(lease));
}

bool InterProcessSemaphoreMutex::try_lock() { return pool_->put(try_in("try_lock", {}).lease); }

bool InterProcessSemaphoreMutex::try_lock_until(Deadline deadline) {
  return pool_->put(try_until("try_lock_until", deadline, {}, {}).lease);
}

void InterProcessSemaphoreMutex::unlock() { pool_->release(1, "unlock", path()); }

Lease InterProcessSemaphoreMutex::current_lease() const { return pool_->youngest(); }

bool InterProcessSemaphoreMutex::owns_lock() const {
  const LeaseState state = current_lease().state();
  return state == LeaseState::held || state == LeaseState::suspended;
}

std::vector<Participant> InterProcessSemaphoreMutex::participants(OperationOptions options) const {
  auto [error, holders] = block<&recipes_detail::start_permit_holders, std::vector<Participant>>(
      core_, "participants", path(), {}, spec_, options);
  throw_if(*core_, error, "participants", path());
  return std::move(holders);
}

}  // namespace custodian
