#include "custodian/recipes/inter_process_semaphore.hpp"

#include <utility>

#include "hold_pool.hpp"
#include "permit_queue.hpp"

namespace custodian {

using recipes_detail::Outcome;
using recipes_detail::PermitQueuePtr;

namespace recipes_detail {

namespace {

auto only_the_leases(Handler<std::vector<Lease>> handler) {
  return [handler = std::move(handler)](error_code error, Outcome outcome) mutable {
    std::move(handler)(error, std::move(outcome.leases));
  };
}

}  // namespace

void start_acquire_permits(std::shared_ptr<detail::ClientCore>, CancellationPtr cancellation,
                           PermitQueuePtr queue, int permits, AcquireOptions options,
                           Handler<std::vector<Lease>> handler) {
  start_acquire_permits_within(queue, std::move(cancellation), permits, {}, std::move(options),
                               only_the_leases(std::move(handler)));
}

void start_try_acquire_permits(std::shared_ptr<detail::ClientCore>, CancellationPtr cancellation,
                               PermitQueuePtr queue, int permits, AcquireOptions options,
                               Handler<std::vector<Lease>> handler) {
  start_acquire_permits_within(queue, std::move(cancellation), permits, {.only_try = true},
                               std::move(options), only_the_leases(std::move(handler)));
}

void start_try_acquire_permits_until(std::shared_ptr<detail::ClientCore>,
                                     CancellationPtr cancellation, PermitQueuePtr queue,
                                     int permits, Deadline deadline, AcquireOptions options,
                                     Handler<std::vector<Lease>> handler) {
  start_acquire_permits_within(queue, std::move(cancellation), permits, patience_until(deadline),
                               std::move(options), only_the_leases(std::move(handler)));
}

void start_permit_holders(std::shared_ptr<detail::ClientCore> core, CancellationPtr cancellation,
                          PermitQueuePtr queue, OperationOptions options,
                          Handler<std::vector<Participant>> handler) {
  start_participants(std::move(core), std::move(cancellation), queue->leases, options,
                     std::move(handler));
}

void start_permit_queue_length(std::shared_ptr<detail::ClientCore> core,
                               CancellationPtr cancellation, PermitQueuePtr queue,
                               OperationOptions options, Handler<std::size_t> handler) {
  start_queue_length(std::move(core), std::move(cancellation), queue->turnstile, options,
                     std::move(handler));
}

}  // namespace recipes_detail

namespace {

Lease only(std::vector<Lease> leases) {
  return leases.empty() ? Lease{} : std::move(leases.front());
}

/// What the blocking forms share.
template <auto Start, typename... Arguments>
std::vector<Lease> wait_for(const std::shared_ptr<detail::ClientCore>& core,
                            std::string_view operation, const PermitQueuePtr& queue, int permits,
                            std::stop_token stop, Arguments... arguments) {
  check_permits(*queue, operation, permits);
  auto [error, leases] = block<Start, std::vector<Lease>>(
      core, operation, queue->path, std::move(stop), queue, permits, std::move(arguments)...);
  detail::throw_if(*core, error, operation, queue->path);
  return std::move(leases);
}

}  // namespace

InterProcessSemaphore::InterProcessSemaphore(const Client& client, const std::string& path,
                                             int maximum, const LockOptions& options)
    : core_{client.core()},
      queue_{recipes_detail::make_permit_queue(client, "InterProcessSemaphore", path, maximum,
                                               recipes_detail::Blocker::is_not_told, options)} {}

InterProcessSemaphore::InterProcessSemaphore(const Client& client, const std::string& path,
                                             const SharedCount& maximum, const LockOptions& options)
    : core_{client.core()},
      queue_{recipes_detail::make_permit_queue(client, "InterProcessSemaphore", path,
                                               maximum.state(),
                                               recipes_detail::Blocker::is_not_told, options)} {}

const std::string& InterProcessSemaphore::path() const noexcept { return queue_->path; }

Lease InterProcessSemaphore::acquire(std::stop_token stop, AcquireOptions options) {
  return only(acquire(1, std::move(stop), std::move(options)));
}

std::vector<Lease> InterProcessSemaphore::acquire(int permits, std::stop_token stop,
                                                  AcquireOptions options) {
  return wait_for<&recipes_detail::start_acquire_permits>(core_, "acquire", queue_, permits,
                                                          std::move(stop), std::move(options));
}

Lease InterProcessSemaphore::try_acquire(AcquireOptions options) {
  return only(try_acquire(1, std::move(options)));
}

std::vector<Lease> InterProcessSemaphore::try_acquire(int permits, AcquireOptions options) {
  return wait_for<&recipes_detail::start_try_acquire_permits>(core_, "try_acquire", queue_, permits,
                                                              {}, std::move(options));
}

Lease InterProcessSemaphore::try_acquire_until(Deadline deadline, std::stop_token stop,
                                               AcquireOptions options) {
  return only(try_acquire_until(1, deadline, std::move(stop), std::move(options)));
}

std::vector<Lease> InterProcessSemaphore::try_acquire_until(int permits, Deadline deadline,
                                                            std::stop_token stop,
                                                            AcquireOptions options) {
  return wait_for<&recipes_detail::start_try_acquire_permits_until>(
      core_, "try_acquire_until", queue_, permits, std::move(stop), deadline, std::move(options));
}

std::vector<Participant> InterProcessSemaphore::participants(OperationOptions options) const {
  auto [error, holders] = block<&recipes_detail::start_permit_holders, std::vector<Participant>>(
      core_, "participants", path(), {}, queue_, options);
  detail::throw_if(*core_, error, "participants", path());
  return std::move(holders);
}

std::size_t InterProcessSemaphore::queue_length(OperationOptions options) const {
  auto [error, length] = block<&recipes_detail::start_permit_queue_length, std::size_t>(
      core_, "queue_length", path(), {}, queue_, options);
  detail::throw_if(*core_, error, "queue_length", path());
  return length;
}

// -- The shape of std::counting_semaphore ---------------------------------------------------------

using Counting = InterProcessSemaphore::Counting;

Counting::Counting(const InterProcessSemaphore& semaphore)
    : core_{semaphore.core_},
      queue_{semaphore.queue_},
      pool_{std::make_shared<recipes_detail::HoldPool<Lease>>()} {}

void Counting::acquire() {
  pool_->put(wait_for<&recipes_detail::start_acquire_permits>(core_, "acquire", queue_, 1, {},
                                                              AcquireOptions{}));
}

bool Counting::try_acquire() {
  return pool_->put(wait_for<&recipes_detail::start_try_acquire_permits>(
      core_, "try_acquire", queue_, 1, {}, AcquireOptions{}));
}

bool Counting::try_acquire_until(Deadline deadline) {
  return pool_->put(wait_for<&recipes_detail::start_try_acquire_permits_until>(
      core_, "try_acquire_until", queue_, 1, {}, deadline, AcquireOptions{}));
}

void Counting::release(std::ptrdiff_t permits) { pool_->release(permits, "release", queue_->path); }

}  // namespace custodian
