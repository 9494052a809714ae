#include "custodian/recipes/inter_process_mutex.hpp"

#include <utility>

#include "contender_queue.hpp"
#include "thread_holds.hpp"

namespace custodian {

using recipes_detail::Patience;
using recipes_detail::Queue;

namespace recipes_detail {

void start_acquire(std::shared_ptr<detail::ClientCore>, CancellationPtr cancellation,
                   QueuePtr queue, AcquireOptions options, Handler<Lease> handler) {
  start_acquire_within(
      queue, std::move(cancellation), {}, std::move(options),
      [handler = std::move(handler)](error_code error, AcquireResult result) mutable {
        std::move(handler)(error, std::move(result.lease));
      });
}

void start_try_acquire(std::shared_ptr<detail::ClientCore>, CancellationPtr cancellation,
                       QueuePtr queue, AcquireOptions options, Handler<AcquireResult> handler) {
  start_acquire_within(queue, std::move(cancellation),
                       {.deadline = Deadline::never(), .only_try = true}, std::move(options),
                       std::move(handler));
}

void start_try_acquire_until(std::shared_ptr<detail::ClientCore>, CancellationPtr cancellation,
                             QueuePtr queue, Deadline deadline, AcquireOptions options,
                             Handler<AcquireResult> handler) {
  const Deadline until = deadline.or_default(Deadline::never());
  // Without time to wait it is a try, as the standard has it.
  const Patience patience = until.passed() ? Patience{.only_try = true} : Patience{until};
  start_acquire_within(queue, std::move(cancellation), patience, std::move(options),
                       std::move(handler));
}

}  // namespace recipes_detail

namespace {

void throw_if(error_code error, std::string_view operation, std::string_view path) {
  if (error) throw Error{error, operation, path};
}

}  // namespace

InterProcessMutex::InterProcessMutex(const Client& client, std::string path, MutexOptions options)
    : core_{client.core()}, holds_{std::make_unique<recipes_detail::ThreadHolds>()} {
  detail::check_path(core_, "InterProcessMutex", path);
  if (!is_valid(options.lease)) {
    throw Error{Errc::invalid_argument, "InterProcessMutex", path,
                "hold_at_most: a lease must be held for some time"};
  }
  queue_ = std::shared_ptr<const Queue>{
      new Queue{.client = client.share(),
                .path = std::move(path),
                .rule = recipes_detail::mutex_rule,
                .lock_name = "lock-",
                .identity = options.identity.empty() ? client.identity() : options.identity,
                .lease = options.lease}};
}

InterProcessMutex::~InterProcessMutex() = default;

const std::string& InterProcessMutex::path() const noexcept { return queue_->path; }

// -- The lease face -------------------------------------------------------------------------------

Lease InterProcessMutex::acquire(std::stop_token stop, AcquireOptions options) {
  // Lost or not: the session of a lost one is kept until it is unlocked.
  if (hold_count() > 0) {
    throw Error{make_error_code(boost::system::errc::resource_deadlock_would_occur), "acquire",
                path(), "this thread holds the lock itself; use current_lease()"};
  }
  auto [error, lease] = block<&recipes_detail::start_acquire, Lease>(
      core_, "acquire", path(), std::move(stop), queue_, std::move(options));
  throw_if(error, "acquire", path());
  return std::move(lease);
}

Lease InterProcessMutex::acquire(const Lease& lease) const {
  const std::string_view node{lease.node()};
  const std::size_t slash = node.rfind('/');
  if (lease && node.substr(0, slash == 0 ? 1 : slash) != path()) {
    throw Error{Errc::invalid_argument, "acquire", path(), "lease: it is another lock's"};
  }
  const LeaseState state = lease.state();
  if (state == LeaseState::lost || state == LeaseState::released) {
    throw Error{Errc::lock_lost, "acquire", path(), "lease: " + std::string{to_string(state)}};
  }
  return lease.share();
}

AcquireResult InterProcessMutex::try_acquire(AcquireOptions options) {
  auto [error, result] = block<&recipes_detail::start_try_acquire, AcquireResult>(
      core_, "try_acquire", path(), {}, queue_, std::move(options));
  throw_if(error, "try_acquire", path());
  return std::move(result);
}

AcquireResult InterProcessMutex::try_acquire_until(Deadline deadline, std::stop_token stop,
                                                   AcquireOptions options) {
  auto [error, result] = block<&recipes_detail::start_try_acquire_until, AcquireResult>(
      core_, "try_acquire_until", path(), std::move(stop), queue_, deadline, std::move(options));
  throw_if(error, "try_acquire_until", path());
  return std::move(result);
}

// -- The standard face ----------------------------------------------------------------------------

void InterProcessMutex::lock() {
  if (!holds_->enter_again(path())) holds_->enter(acquire());
}

bool InterProcessMutex::try_lock() {
  if (holds_->enter_again(path())) return true;
  AcquireResult result = try_acquire();
  if (!result) return false;
  holds_->enter(std::move(result.lease));
  return true;
}

bool InterProcessMutex::try_lock_until(Deadline deadline) {
  if (holds_->enter_again(path())) return true;
  AcquireResult result = try_acquire_until(deadline);
  if (!result) return false;
  holds_->enter(std::move(result.lease));
  return true;
}

void InterProcessMutex::unlock() { holds_->leave(path()).release(); }

Lease InterProcessMutex::current_lease() const { return holds_->lease(); }

bool InterProcessMutex::is_held_by_this_thread() const {
  const LeaseState state = holds_->lease().state();
  return state == LeaseState::held || state == LeaseState::suspended;
}

int InterProcessMutex::hold_count() const { return holds_->count(); }

// -- Introspection --------------------------------------------------------------------------------

std::vector<Participant> InterProcessMutex::participants(OperationOptions options) const {
  auto [error, participants] = block<&recipes_detail::start_participants, std::vector<Participant>>(
      core_, "participants", path(), {}, queue_, options);
  throw_if(error, "participants", path());
  return std::move(participants);
}

std::size_t InterProcessMutex::queue_length(OperationOptions options) const {
  auto [error, length] = block<&recipes_detail::start_queue_length, std::size_t>(
      core_, "queue_length", path(), {}, queue_, options);
  throw_if(error, "queue_length", path());
  return length;
}

}  // namespace custodian
