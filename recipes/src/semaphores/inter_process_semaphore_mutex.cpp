#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"

#include <utility>

#include "acquire/hold_pool.hpp"
#include "semaphores/semaphore_spec.hpp"

namespace custodian {

InterProcessSemaphoreMutex::InterProcessSemaphoreMutex(const Client& client,
                                                       const std::string& path,
                                                       const LockOptions& options)
    : core_{client.core()},
      spec_{recipes_detail::make_semaphore_spec(client, "InterProcessSemaphoreMutex", path, 1,
                                                options, true)},
      pool_{std::make_unique<recipes_detail::HoldPool<Lease>>()} {}

InterProcessSemaphoreMutex::InterProcessSemaphoreMutex(InterProcessSemaphoreMutex&&) noexcept =
    default;

InterProcessSemaphoreMutex& InterProcessSemaphoreMutex::operator=(
    InterProcessSemaphoreMutex&&) noexcept = default;

InterProcessSemaphoreMutex::~InterProcessSemaphoreMutex() = default;

const std::string& InterProcessSemaphoreMutex::path() const noexcept { return spec_->path; }

AcquireResult InterProcessSemaphoreMutex::acquire_within(std::string_view operation,
                                                         const WaitLimit& limit,
                                                         AcquireOptions options,
                                                         std::stop_token stop) const {
  return acquire_permit(spec_, operation, limit, std::move(options), std::move(stop));
}

bool InterProcessSemaphoreMutex::lock_within(std::string_view operation, const WaitLimit& limit) {
  return pool_->put(acquire_within(operation, limit, {}, {}).lease);
}

void InterProcessSemaphoreMutex::unlock() { pool_->release(1, "unlock", path()); }

Lease InterProcessSemaphoreMutex::current_lease() const { return pool_->youngest(); }

bool InterProcessSemaphoreMutex::owns_lock() const { return pool_->is_held(); }

std::vector<Participant> InterProcessSemaphoreMutex::participants(OperationOptions options) const {
  return block_in_time_or_throw<&recipes_detail::start_permit_holders, std::vector<Participant>>(
      core_, "participants", path(), {}, {options.deadline}, spec_, options);
}

}  // namespace custodian
