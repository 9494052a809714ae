/// \file
/// A group acquisition acquires several locks, or enough of them.
///
/// 1. A pass acquires the locks one after the other, in the order given, so that callers with the
///    same order never wait in a circle.
/// 2. Acquired locks may be lost during the pass. So they are counted again before every step, at
///    the end of the pass, and at every loss; a loss that leaves too few ends the wait for the next
///    lock.
/// 3. If enough are held they become a LeaseGroup. Otherwise all are released, the last one first;
///    only then does the acquire fail, or the next pass begin, after a pause.

#include "lock_sets/group_acquisition.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <list>
#include <utility>

#include "acquire/not_acquired.hpp"
#include "acquire/pending_acquires.hpp"
#include "acquire/start_acquire.hpp"
#include "async/backoff.hpp"
#include "custodian/authoring/spawn.hpp"
#include "lock_sets/custom_acquisition.hpp"
#include "lock_sets/group_shares.hpp"
#include "lock_sets/quorum_rule.hpp"
#include "semaphores/semaphore_spec.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

const Client* client_of(const AnyLock& lock) {
  if (const auto* permits = std::get_if<AnyLock::Permits>(&lock.place())) {
    return &permits->spec->turnstile->client;
  }
  const auto* const spec = std::get_if<LockSpecPtr>(&lock.place());
  return spec ? &(*spec)->client : nullptr;
}

const Client& LockSet::home() const {
  return *client_of(
      *std::ranges::find_if(locks, [](const AnyLock& each) { return client_of(each) != nullptr; }));
}

const Client& LockSet::runner_of(const AnyLock& lock) const {
  const Client* const client = client_of(lock);
  return client ? *client : home();
}

namespace {

/// The result of an acquire of one of the locks.
struct Taken {
  Acquired acquired;
  HeldCustomPtr custom{};
};

/// A lock that was not acquired, or was lost again.
struct Miss {
  error_code error;
  std::string path;
  std::optional<Participant> blocked_by{};
  NotAcquired reason = NotAcquired::none;
};

struct GroupAcquire {
  LockSetPtr group;
  WaitLimit wait_limit;
  AcquireOptions options;
  CancellationPtr give_up;
  Deadline limit;  ///< until when the acquire waits for its own releases

  // The members below belong to the pass that is under way.
  std::vector<Share> had{};
  std::vector<Miss> misses{};
  std::size_t tried = 0;      ///< how many locks the pass has tried
  CancellationPtr waiting{};  ///< ends the acquire of the next lock, on that lock's strand

  [[nodiscard]] Prospect prospect() const {
    const auto held = std::ranges::count(had, error_code{}, &Share::loss);
    return recipes_detail::prospect(static_cast<std::size_t>(held), group->locks.size() - tried,
                                    group->needed);
  }
  /// Whether the acquire holds a lock of this client's session, in whichever namespace.
  [[nodiscard]] bool has_any_of(const CorePtr& core) const {
    return std::ranges::any_of(had, [&](const Share& share) {
      return !share.custom && own_core(share.leases.front().core()) == own_core(core);
    });
  }
  [[nodiscard]] bool is_quorum() const { return group->spare() > 0; }
  [[nodiscard]] bool over() const { return give_up->requested() || wait_limit.deadline.passed(); }
  /// Counts the held locks, once, at the end of a pass. If they are enough they become the group,
  /// which then reports later losses.
  std::size_t count() {
    std::size_t held = 0;
    for (Share& share : had) {
      const error_code loss = share.loss();
      share.counts = !loss;
      if (share.counts) ++held;
      if (loss) misses.push_back({loss, share.path});
    }
    return held;
  }
  void on_loss() const {
    if (waiting && prospect() == Prospect::hopeless) waiting->request();
  }
};

using GroupAcquirePtr = std::shared_ptr<GroupAcquire>;
using LossEars = std::list<std::stop_callback<std::function<void()>>>;

/// Begins the acquire of one of the locks, on its client's strand, and returns to the home strand
/// with the result.
void start_one(CorePtr, CancellationPtr cancellation, LockSetPtr group, std::size_t index,
               WaitLimit wait_limit, AcquireOptions options, Handler<Taken> handler) {
  auto at_home = [group, handler = std::move(handler)](error_code error, Acquired acquired,
                                                       HeldCustomPtr custom = {}) mutable {
    Taken taken{std::move(acquired), std::move(custom)};
    asio::dispatch(group->home().get_executor(),
                   [handler = std::move(handler), error, taken = std::move(taken)]() mutable {
                     std::move(handler)(error, std::move(taken));
                   });
  };
  const AnyLock::Place& place = group->locks[index].place();
  if (const auto* custom = std::get_if<AnyLock::Custom>(&place)) {
    return start_acquire_custom(
        group->home(), std::move(cancellation), custom->lock, custom->name, wait_limit,
        [at_home = std::move(at_home)](error_code error, HeldCustomPtr held) mutable {
          Acquired acquired;
          if (!error && !held) acquired.reason = NotAcquired::blocked;
          at_home(error, std::move(acquired), std::move(held));
        });
  }
  if (const auto* permits = std::get_if<AnyLock::Permits>(&place)) {
    return start_acquire_permits_within(permits->spec, std::move(cancellation), permits->count,
                                        wait_limit, std::move(options), std::move(at_home));
  }
  start_acquire_within(
      std::get<LockSpecPtr>(place), std::move(cancellation), wait_limit, std::move(options), {},
      [at_home = std::move(at_home)](error_code error, AcquireResult result) mutable {
        Acquired acquired{
            .leases = {}, .blocked_by = std::move(result.blocked_by), .reason = result.reason};
        if (result) acquired.leases.push_back(std::move(result.lease));
        at_home(error, std::move(acquired));
      });
}

/// The limit for the next lock: the time that is left. When enough locks are held, the others are
/// only tried.
WaitLimit limit_for_next(const GroupAcquire& acquire) {
  WaitLimit wait_limit = acquire.wait_limit;
  const auto within = acquire.group->max_unreachable;
  if (acquire.prospect() == Prospect::enough) wait_limit.try_once = true;
  if (!wait_limit.try_once) {
    wait_limit.max_unreachable = within;
  } else if (within) {
    wait_limit.deadline = std::min(wait_limit.deadline, Deadline{*within});
  }
  return wait_limit;
}

asio::awaitable<std::tuple<error_code, Taken>> acquire_next(GroupAcquirePtr acquire) {
  const auto core = acquire->group->runner_of(acquire->group->locks[acquire->tried]).core();
  const auto cancellation = std::make_shared<Cancellation>(core);
  acquire->waiting = cancellation;
  acquire->give_up->on_request(cancellation.get(), [cancellation] { cancellation->request(); });
  const WaitLimit wait_limit = limit_for_next(*acquire);
  AcquireOptions options = acquire->options;
  // A quorum's acquire waits in the queue of only one ensemble at a time, so it may queue there
  // again.
  if (acquire->is_quorum()) options.requeue = RequeuePolicy::queue_again;
  // The group holds a lease of this client already, which a lost session would end, too. So the
  // acquire of this lock does not queue again: the pass begins again, or the whole acquire fails.
  if (acquire->has_any_of(core)) options.requeue = RequeuePolicy::fail;
  auto taken = co_await await<&start_one, Taken>(core, cancellation, acquire->group, acquire->tried,
                                                 wait_limit, std::move(options));
  acquire->give_up->forget(cancellation.get());
  acquire->waiting.reset();
  co_return std::move(taken);
}

/// Listens for the loss of the share. A loss may be reported on any thread, and is judged on the
/// home strand.
void listen(LossEars& ears, const GroupAcquirePtr& acquire, const Share& share) {
  const asio::any_io_executor strand = acquire->group->home().get_executor();
  const auto on_loss = [strand, weak = std::weak_ptr{acquire}] {
    asio::post(strand, [weak] {
      if (const auto alive = weak.lock()) alive->on_loss();
    });
  };
  for (const Lease& lease : share.leases) ears.emplace_back(lease.lost(), on_loss);
  if (share.custom) ears.emplace_back(share.custom->lost(), on_loss);
}

/// Goes over the locks once, and returns how many are held at the end.
asio::awaitable<std::size_t> pass(GroupAcquirePtr acquire) {
  acquire->misses.clear();
  acquire->tried = 0;
  LossEars ears;
  for (const AnyLock& lock : acquire->group->locks) {
    if (acquire->prospect() == Prospect::hopeless || acquire->over()) break;
    auto [error, taken] = co_await acquire_next(acquire);
    Acquired& acquired = taken.acquired;
    ++acquire->tried;
    if (!acquired.leases.empty() || taken.custom) {
      acquire->had.push_back({lock.path(), std::move(acquired.leases), std::move(taken.custom)});
      listen(ears, acquire, acquire->had.back());
    } else {
      acquire->misses.push_back(
          {error, lock.path(), std::move(acquired.blocked_by), acquired.reason});
    }
  }
  co_return acquire->count();
}

/// Whether another pass could not acquire the lock either.
bool is_final(const GroupAcquire& acquire, const error_code& error) {
  // Without an error another contender holds the lock. With operation_aborted the group has lost
  // another lock, which has a miss of its own.
  if (!error || error == asio::error::operation_aborted) return false;
  if (acquire.wait_limit.try_once) return true;
  if (!acquire.is_quorum()) {
    return error != Errc::session_lost || acquire.options.requeue == RequeuePolicy::fail;
  }
  return error != Errc::session_lost && error != Errc::not_connected &&
         error != Errc::deadline_exceeded && error != Errc::node_deleted;
}

struct Ending {
  error_code error;
  GroupAcquireResult result;
};

/// The acquire's end after a failed pass; nothing if another pass follows.
std::optional<Ending> ending_of(const GroupAcquire& acquire) {
  if (acquire.give_up->requested()) return Ending{asio::error::operation_aborted, {}};
  // A quorum fails only when more locks fail for good than it has to spare.
  std::size_t spare = acquire.group->spare();
  for (const Miss& miss : acquire.misses) {
    if (!is_final(acquire, miss.error)) continue;
    if (spare-- == 0) return Ending{miss.error, {.path = miss.path}};
  }
  if (!acquire.wait_limit.try_once && !acquire.over()) return std::nullopt;
  // Reports a lock that another contender holds, if there is one.
  auto telling = std::ranges::find(acquire.misses, NotAcquired::blocked, &Miss::reason);
  if (telling == acquire.misses.end()) {
    telling = std::ranges::find_if(acquire.misses, [](const Miss& miss) { return !miss.error; });
  }
  if (telling != acquire.misses.end()) {
    return Ending{
        {}, {.blocked_by = telling->blocked_by, .path = telling->path, .reason = telling->reason}};
  }
  // The time was up before the first request, or a lock was lost again after its acquire.
  const AnyLock& first = acquire.group->locks.front();
  const bool connected = is_connected(acquire.group->home().connection_state());
  return Ending{{},
                {.path = acquire.misses.empty() ? first.path() : acquire.misses.front().path,
                 .reason = why_not_acquired(false, connected)}};
}

LeaseGroup group_of(GroupAcquire& acquire) {
  std::vector<Lease> leases;
  std::vector<CustomShare> customs;
  for (Share& share : acquire.had) {
    if (!share.counts) continue;
    std::ranges::move(share.leases, std::back_inserter(leases));
    if (share.custom) customs.push_back({std::move(share.custom), leases.size()});
  }
  acquire.had.clear();
  const std::size_t all = leases.size() + customs.size();
  const std::size_t needed = acquire.is_quorum() ? acquire.group->needed : all;
  return LeaseGroup{acquire.group->home(), std::move(leases), std::move(customs), needed};
}

asio::awaitable<Ending> acquire_enough(GroupAcquirePtr acquire) {
  for (int passes = 0;; ++passes) {
    const bool enough = co_await pass(acquire) >= acquire->group->needed;
    if (enough && !acquire->give_up->requested()) co_return Ending{{}, {group_of(*acquire)}};
    std::vector<Share> shares = std::exchange(acquire->had, {});
    co_await release_in_reverse(acquire->group->home(), std::move(shares), acquire->limit,
                                acquire->give_up);
    auto ending = ending_of(*acquire);
    if (!ending) {
      // A random pause, so that contenders that were in each other's way do not come back at the
      // same time.
      co_await back_off(acquire->group->home(), passes, acquire->wait_limit.deadline,
                        acquire->give_up);
      ending = ending_of(*acquire);  // the time may be up by now
    }
    if (ending) co_return std::move(*ending);
    if (acquire->options.on_requeued) {
      asio::post(acquire->group->home().callback_executor(), acquire->options.on_requeued);
    }
  }
}

asio::awaitable<void> run(GroupAcquirePtr acquire, CancellationPtr callers,
                          std::shared_ptr<Handler<GroupAcquireResult>> handler) {
  auto& service = acquire->group->home().share().use_service<PendingAcquires>();
  if (service.closing()) co_return std::move (*handler)(Errc::closed, GroupAcquireResult{});
  service.enter(acquire->give_up);
  if (callers) {
    callers->on_request(acquire.get(), [give_up = acquire->give_up] { give_up->request(); });
    if (callers->requested()) acquire->give_up->request();
  }
  Ending ending = co_await acquire_enough(acquire);
  if (callers) callers->forget(acquire.get());
  service.leave(acquire->give_up);
  if (ending.error == asio::error::operation_aborted && service.closing()) {
    ending.error = Errc::closed;
  }
  std::move (*handler)(ending.error, std::move(ending.result));
}

Deadline limit_of(const Client& home, const WaitLimit& wait_limit) {
  if (!wait_limit.try_once) return wait_limit.deadline;
  return std::min(wait_limit.deadline, home.deadline_or_default({}));
}

}  // namespace

void start_acquire_group_within(const LockSetPtr& group, CancellationPtr cancellation,
                                WaitLimit wait_limit, AcquireOptions options,
                                Handler<GroupAcquireResult> handler) {
  const Client& home = group->home();
  error_code error = home.unusable();
  if (!error && !is_valid(options.lease)) error = Errc::invalid_argument;
  if (error) return std::move(handler)(error, GroupAcquireResult{});
  const auto acquire = std::make_shared<GroupAcquire>(
      GroupAcquire{.group = group,
                   .wait_limit = wait_limit,
                   .options = std::move(options),
                   .give_up = std::make_shared<Cancellation>(home.core()),
                   .limit = limit_of(home, wait_limit)});
  const auto ending = std::make_shared<Handler<GroupAcquireResult>>(std::move(handler));
  spawn(home.core(), "an acquire of several locks", run(acquire, std::move(cancellation), ending),
        [ending](error_code failure) {
          if (*ending) std::move (*ending)(failure, GroupAcquireResult{});
        });
}

}  // namespace custodian::recipes_detail
