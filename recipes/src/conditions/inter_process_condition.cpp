#include "custodian/conditions/inter_process_condition.hpp"

#include <utility>

#include "acquire/downgrade.hpp"
#include "acquire/thread_holds.hpp"
#include "async/observed_wait.hpp"
#include "conditions/condition_wait.hpp"
#include "conditions/signalling.hpp"
#include "custodian/authoring/argument_checks.hpp"
#include "custodian/authoring/bound_to_context.hpp"
#include "custodian/authoring/spawn.hpp"
#include "locks/lock_holds.hpp"

namespace custodian {

using recipes_detail::ConditionSpec;
using recipes_detail::ContenderKind;
using recipes_detail::LockSpec;

std::string_view to_string(ConditionStatus status) noexcept {
  switch (status) {
    case ConditionStatus::signalled: return "signalled";
    case ConditionStatus::spurious: return "spurious";
    case ConditionStatus::timeout: return "timeout";
    case ConditionStatus::stopped: return "stopped";
  }
  return "unknown";
}

namespace recipes_detail {

namespace {

WaitOutcome outcome_of_waking(const Woken& woken) {
  switch (woken.status) {
    case ConditionStatus::signalled: return WaitOutcome::passed;
    case ConditionStatus::spurious: return WaitOutcome::spurious;
    case ConditionStatus::timeout: return WaitOutcome::late;
    case ConditionStatus::stopped: return WaitOutcome::cancelled;
  }
  return WaitOutcome::failed;
}

}  // namespace

void start_condition_wait(CorePtr core, CancellationPtr cancellation, ConditionSpecPtr condition,
                          Lease lease, Deadline until, std::stop_token stop,
                          Handler<Woken> handler) {
  error_code error = condition->client.unusable();
  if (!error) error = objection_to(*condition->lock, lease);
  if (!error && lease.hold_count() > 1) error = Errc::invalid_argument;
  if (error) return std::move(handler)(error, Woken{});
  Handler<Woken> observed = observed_wait(core, "InterProcessCondition", condition->path,
                                          std::move(handler), &outcome_of_waking);
  Handler<Woken> bound = bound_to_context(core, std::move(observed));
  const std::string what = "waiting at " + condition->path;
  spawn(core, what,
        wait_at(std::move(condition), std::move(cancellation), std::move(lease),
                until.or_default(Deadline::never()), std::move(stop)),
        std::move(bound));
}

void start_signal(CorePtr core, CancellationPtr cancellation, ConditionSpecPtr condition,
                  Lease lease, std::size_t most, OperationOptions options,
                  Handler<std::size_t> handler) {
  error_code error = condition->client.unusable();
  if (!error) error = objection_to(*condition->lock, lease);
  if (error) return std::move(handler)(error, std::size_t{0});
  options.deadline = condition->client.deadline_or_default(options.deadline);
  const std::string what = "signalling at " + condition->path;
  spawn(core, what,
        signal_waiters(std::move(condition), std::move(cancellation), std::move(lease), most,
                       options),
        std::move(handler));
}

}  // namespace recipes_detail

namespace {

[[noreturn]] void refuse(std::string_view path, std::string_view why) {
  throw Error{Errc::invalid_argument, "InterProcessCondition", path, why};
}

void check_lock(const LockSpec& lock, const std::string& path) {
  if (lock.kind != ContenderKind::exclusive) {
    refuse(path, "a read lock has several holders; use the write lock");
  }
  if (lock.kept) {
    refuse(path, "the lock at " + lock.path +
                     " is kept, or belongs to a cohort: use one without keep_idle_for and cohort");
  }
  if (path == lock.path || path.starts_with(lock.path + "/")) {
    refuse(path, "a condition has a path of its own, not at or below the lock's");
  }
}

}  // namespace

InterProcessCondition::InterProcessCondition(const InterProcessLock& lock, std::string path)
    : core_{lock.core_}, holds_{lock.holds_} {
  const LockSpec& spec = *lock.spec();
  check_path(core_, "InterProcessCondition", path);
  check_create(core_, path, spec.identity, {});
  check_lock(spec, path);
  condition_ = std::make_shared<ConditionSpec>(
      ConditionSpec{spec.client.share(), std::move(path), lock.spec()});
}

const std::string& InterProcessCondition::path() const noexcept { return condition_->path; }

// -- The lease face -------------------------------------------------------------------------------

ConditionStatus InterProcessCondition::wait_until(Lease& lease, Deadline until,
                                                  std::stop_token stop) const {
  Woken woken = block_or_throw<&recipes_detail::start_condition_wait, Woken>(
      core_, "InterProcessCondition::wait", path(), {}, condition_, std::move(lease), until,
      std::move(stop));
  lease = std::move(woken.lease);
  return woken.status;
}

std::size_t InterProcessCondition::signal_within(std::string_view operation, Lease lease,
                                                 std::size_t most, OperationOptions options) const {
  return block_in_time_or_throw<&recipes_detail::start_signal, std::size_t>(
      core_, operation, path(), {}, {options.deadline, Errc::deadline_exceeded_outcome_unknown},
      condition_, std::move(lease), most, options);
}

std::size_t InterProcessCondition::signal(const Lease& lease, OperationOptions options) const {
  return signal_within("InterProcessCondition::signal", lease.share(), 1, options);
}

std::size_t InterProcessCondition::signal_all(const Lease& lease, OperationOptions options) const {
  return signal_within("InterProcessCondition::signal_all", lease.share(), everybody, options);
}

// -- The standard face ----------------------------------------------------------------------------

namespace {

[[noreturn]] void refuse_holder(std::string_view operation, std::string_view path,
                                std::string_view why) {
  throw Error{make_error_code(boost::system::errc::operation_not_permitted), operation, path, why};
}

}  // namespace

void InterProcessCondition::check_holder(const InterProcessLock* lock, bool owns) const {
  constexpr std::string_view operation = "InterProcessCondition::wait";
  if (lock == nullptr || lock->spec() != condition_->lock) {
    throw Error{Errc::invalid_argument, operation, path(), "the lock is not that of the condition"};
  }
  if (holds_->beside(condition_->lock->kind).count() > 0) {
    throw Error{make_error_code(boost::system::errc::resource_deadlock_would_occur), operation,
                path(), "this thread holds the read lock, too"};
  }
  const Lease lease = lock->current_lease();
  if (!owns || !lease) refuse_holder(operation, path(), "this thread does not hold the lock");
  // Two leases share the hold: the thread's, and `lease`.
  if (lease.hold_count() > 2) refuse_holder(operation, path(), "other leases share this hold");
}

ConditionStatus InterProcessCondition::wait_holding(Deadline until, std::stop_token stop) const {
  auto& holds = holds_->of(condition_->lock->kind);
  auto [lease, count] = holds.take();
  try {
    const ConditionStatus status = wait_until(lease, until, std::move(stop));
    holds.put_back(std::move(lease), count);
    return status;
  } catch (...) {
    // The thread has lost the lock, but must unlock it as often as it has locked it.
    holds.put_back(Lease{}, count);
    throw;
  }
}

void InterProcessCondition::notify_one() const {
  constexpr std::string_view operation = "InterProcessCondition::notify_one";
  Lease lease = holds_->of(condition_->lock->kind).lease();
  if (!lease) refuse_holder(operation, path(), "this thread does not hold the lock");
  signal_within(operation, std::move(lease), 1, {});
}

void InterProcessCondition::notify_all() const {
  constexpr std::string_view operation = "InterProcessCondition::notify_all";
  Lease lease = holds_->of(condition_->lock->kind).lease();
  if (!lease) refuse_holder(operation, path(), "this thread does not hold the lock");
  signal_within(operation, std::move(lease), everybody, {});
}

}  // namespace custodian
