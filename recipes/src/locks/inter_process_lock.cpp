#include "custodian/locks/inter_process_lock.hpp"

#include <utility>

#include "acquire/acquire.hpp"
#include "acquire/downgrade.hpp"
#include "acquire/participants.hpp"
#include "acquire/start_acquire.hpp"
#include "async/block_in_time.hpp"
#include "kept/kept_locks.hpp"
#include "locks/lock_holds.hpp"

namespace custodian {

using recipes_detail::ContenderKind;
using recipes_detail::ThreadHolds;

namespace recipes_detail {

void start_acquire(CorePtr, CancellationPtr cancellation, LockSpecPtr spec, WaitLimit limit,
                   AcquireOptions options, Handler<AcquireResult> handler) {
  start_kept_acquire(spec, std::move(cancellation), limit.from_now(), std::move(options), {},
                     std::move(handler));
}

void start_acquire_beside(CorePtr, CancellationPtr cancellation, LockSpecPtr spec, Lease held,
                          AcquireOptions options, Handler<Lease> handler) {
  // An empty lease is no re-entry, and must not become a fresh acquire.
  if (!held) return std::move(handler)(Errc::lock_lost, Lease{});
  start_acquire_within(
      spec, std::move(cancellation), {}, std::move(options), std::move(held),
      [handler = std::move(handler)](error_code error, AcquireResult result) mutable {
        std::move(handler)(error, std::move(result.lease));
      });
}

}  // namespace recipes_detail

InterProcessLock::InterProcessLock(recipes_detail::LockSpecPtr spec,
                                   std::shared_ptr<recipes_detail::LockHolds> holds)
    : core_{spec->client.core()}, spec_{std::move(spec)}, holds_{std::move(holds)} {}

InterProcessLock::InterProcessLock(InterProcessLock&&) noexcept = default;

InterProcessLock& InterProcessLock::operator=(InterProcessLock&&) noexcept = default;

InterProcessLock::~InterProcessLock() = default;

const std::string& InterProcessLock::path() const noexcept { return spec_->path; }

// -- The lease face -------------------------------------------------------------------------------

void InterProcessLock::refuse_deadlock() const {
  // A lost hold counts, too: its session is kept until the thread unlocks it.
  const bool holds_other = holds_->of(ContenderKind::shared).count() > 0 ||
                           holds_->of(ContenderKind::exclusive).count() > 0;
  if (holds_other) {
    throw Error{make_error_code(boost::system::errc::resource_deadlock_would_occur), "acquire",
                path(), "this thread holds the lock itself; use its current_lease()"};
  }
}

AcquireResult InterProcessLock::acquire_within(std::string_view operation, const WaitLimit& limit,
                                               AcquireOptions options, std::stop_token stop) const {
  recipes_detail::refuse_stopped(stop, operation, path());
  if (Lease kept = recipes_detail::take_kept(*spec_, operation, options)) {
    return {.lease = std::move(kept)};
  }
  return recipes_detail::block_in_time<&recipes_detail::start_acquire, AcquireResult>(
      spec_->client, operation, path(), spec_, limit, std::move(options), std::move(stop));
}

Lease InterProcessLock::acquire(const Lease& lease, AcquireOptions options,
                                std::stop_token stop) const {
  auto [error, another] = block<&recipes_detail::start_acquire_beside, Lease>(
      core_, "acquire", path(), std::move(stop), spec_, lease.share(), std::move(options));
  if (error) {
    const error_code objection = recipes_detail::objection_to(*spec_, lease);
    throw_if(*core_, error, "acquire", path(), recipes_detail::explain_objection(objection));
  }
  return std::move(another);
}

// -- The standard face ----------------------------------------------------------------------------

namespace {

void start_enter(CorePtr, CancellationPtr cancellation, recipes_detail::LockSpecPtr spec,
                 WaitLimit wait_limit, Lease beside, Handler<AcquireResult> handler) {
  recipes_detail::start_kept_acquire(spec, std::move(cancellation), wait_limit, {},
                                     std::move(beside), std::move(handler));
}

}  // namespace

ThreadHolds& InterProcessLock::holds() const { return holds_->of(spec_->kind); }

bool InterProcessLock::lock_within(std::string_view operation, const WaitLimit& wait_limit) {
  if (holds().enter_again(path())) return true;
  const WaitLimit limit = wait_limit.from_now();
  // A thread that holds the other side asks for a downgrade, or for an upgrade, which is refused.
  Lease beside = holds_->beside(spec_->kind).lease();
  if (!beside) {
    if (Lease kept = recipes_detail::take_kept(*spec_, operation, {})) {
      holds().enter(std::move(kept));
      return true;
    }
  }
  const Deadline end = recipes_detail::end_of(spec_->client, limit);
  auto outcome = block_until<&start_enter, AcquireResult>(core_, operation, path(), {}, end, spec_,
                                                          limit, beside.share());
  if (!outcome) return false;  // no thread runs the context
  auto& [error, result] = *outcome;
  if (error) {
    const error_code objection =
        beside ? recipes_detail::objection_to(*spec_, beside) : error_code{};
    throw_if(*core_, error, operation, path(), recipes_detail::explain_objection(objection));
  }
  if (!result) return false;
  holds().enter(std::move(result.lease));
  return true;
}

void InterProcessLock::unlock() { holds().leave(path()).release(); }

Lease InterProcessLock::current_lease() const { return holds().lease(); }

bool InterProcessLock::is_held_by_this_thread() const {
  const LeaseState state = holds().lease().state();
  return state == LeaseState::held || state == LeaseState::suspended;
}

int InterProcessLock::hold_count() const { return holds().count(); }

// -- Introspection --------------------------------------------------------------------------------

std::vector<Participant> InterProcessLock::participants(OperationOptions options) const {
  return recipes_detail::participants_of(spec_, "participants", options);
}

std::size_t InterProcessLock::queue_length(OperationOptions options) const {
  return block_in_time_or_throw<&recipes_detail::start_queue_length, std::size_t>(
      core_, "queue_length", path(), {}, {options.deadline}, spec_, options);
}

}  // namespace custodian
