#include "custodian/recipes/inter_process_semaphore_mutex.hpp"

#include <utility>

#include "hold_pool.hpp"
#include "permit_queue.hpp"

namespace custodian {

namespace recipes_detail {

namespace {

void start_permit_within(const PermitQueuePtr& queue, CancellationPtr cancellation,
                         Patience patience, AcquireOptions options,
                         Handler<AcquireResult> handler) {
  start_acquire_permits_within(queue, std::move(cancellation), 1, patience, std::move(options),
                               as_one_lease(std::move(handler)));
}

}  // namespace

void start_acquire_permit(std::shared_ptr<detail::ClientCore>, CancellationPtr cancellation,
                          PermitQueuePtr queue, AcquireOptions options, Handler<Lease> handler) {
  start_permit_within(queue, std::move(cancellation), {}, std::move(options),
                      [handler = std::move(handler)](error_code error, AcquireResult one) mutable {
                        std::move(handler)(error, std::move(one.lease));
                      });
}

void start_try_acquire_permit(std::shared_ptr<detail::ClientCore>, CancellationPtr cancellation,
                              PermitQueuePtr queue, AcquireOptions options,
                              Handler<AcquireResult> handler) {
  start_permit_within(queue, std::move(cancellation), {.only_try = true}, std::move(options),
                      std::move(handler));
}

void start_try_acquire_permit_until(std::shared_ptr<detail::ClientCore>,
                                    CancellationPtr cancellation, PermitQueuePtr queue,
                                    Deadline deadline, AcquireOptions options,
                                    Handler<AcquireResult> handler) {
  start_permit_within(queue, std::move(cancellation), patience_until(deadline), std::move(options),
                      std::move(handler));
}

}  // namespace recipes_detail

namespace {

/// What the blocking forms share.
template <auto Start, typename Result, typename... Arguments>
Result wait_for(const std::shared_ptr<detail::ClientCore>& core, std::string_view operation,
                const recipes_detail::PermitQueuePtr& queue, std::stop_token stop,
                Arguments... arguments) {
  auto [error, result] = block<Start, Result>(core, operation, queue->path, std::move(stop), queue,
                                              std::move(arguments)...);
  detail::throw_if(*core, error, operation, queue->path);
  return std::move(result);
}

}  // namespace

InterProcessSemaphoreMutex::InterProcessSemaphoreMutex(const Client& client,
                                                       const std::string& path,
                                                       const LockOptions& options)
    : core_{client.core()},
      queue_{recipes_detail::make_permit_queue(client, "InterProcessSemaphoreMutex", path, 1,
                                               recipes_detail::Blocker::is_told, options)},
      pool_{std::make_unique<recipes_detail::HoldPool<Lease>>()} {}

InterProcessSemaphoreMutex::~InterProcessSemaphoreMutex() = default;

const std::string& InterProcessSemaphoreMutex::path() const noexcept { return queue_->path; }

Lease InterProcessSemaphoreMutex::acquire(std::stop_token stop, AcquireOptions options) {
  return wait_for<&recipes_detail::start_acquire_permit, Lease>(
      core_, "acquire", queue_, std::move(stop), std::move(options));
}

AcquireResult InterProcessSemaphoreMutex::try_acquire(AcquireOptions options) {
  return wait_for<&recipes_detail::start_try_acquire_permit, AcquireResult>(
      core_, "try_acquire", queue_, {}, std::move(options));
}

AcquireResult InterProcessSemaphoreMutex::try_acquire_until(Deadline deadline, std::stop_token stop,
                                                            AcquireOptions options) {
  return wait_for<&recipes_detail::start_try_acquire_permit_until, AcquireResult>(
      core_, "try_acquire_until", queue_, std::move(stop), deadline, std::move(options));
}

void InterProcessSemaphoreMutex::lock() {
  pool_->put(wait_for<&recipes_detail::start_acquire_permit, Lease>(core_, "lock", queue_, {},
                                                                    AcquireOptions{}));
}

bool InterProcessSemaphoreMutex::try_lock() {
  return pool_->put(wait_for<&recipes_detail::start_try_acquire_permit, AcquireResult>(
                        core_, "try_lock", queue_, {}, AcquireOptions{})
                        .lease);
}

bool InterProcessSemaphoreMutex::try_lock_until(Deadline deadline) {
  return pool_->put(wait_for<&recipes_detail::start_try_acquire_permit_until, AcquireResult>(
                        core_, "try_lock_until", queue_, {}, deadline, AcquireOptions{})
                        .lease);
}

void InterProcessSemaphoreMutex::unlock() { pool_->release(1, "unlock", path()); }

Lease InterProcessSemaphoreMutex::current_lease() const { return pool_->youngest(); }

std::vector<Participant> InterProcessSemaphoreMutex::participants(OperationOptions options) const {
  return wait_for<&recipes_detail::start_permit_holders, std::vector<Participant>>(
      core_, "participants", queue_, {}, options);
}

}  // namespace custodian
