/// \file
/// Permits are acquired in these steps:
///
/// 1. Queue at the turnstile, as for a mutex.
/// 2. First in the queue, wait until the maximum is no less than the number of permits.
/// 3. Create one lease node for each permit, and wait until all of them are within the maximum.
/// 4. Make leases of the nodes, and leave the turnstile to the next acquire.
///
/// So permits are granted in the order of the requests, and acquires of few permits do not starve
/// an acquire of many. The maximum does not rest on the turnstile, but on the order of the lease
/// nodes (see permit_count.hpp): no permit too many is granted even when a node at the turnstile is
/// lost.

#include "semaphores/semaphore_spec.hpp"

#include <algorithm>

#include "acquire/not_acquired.hpp"
#include "acquire/queue_warnings.hpp"
#include "acquire/watching.hpp"
#include "async/block_in_time.hpp"
#include "async/started_operation.hpp"
#include "custodian/authoring/follow.hpp"
#include "custodian/authoring/path.hpp"
#include "kept/kept_locks.hpp"
#include "local_handover/local_queue.hpp"
#include "semaphores/permit_count.hpp"
#include "shared/shared_node.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

/// Creates one lease node for each permit; the requests travel together. If one of them fails, the
/// nodes are deleted.
asio::awaitable<Result<std::vector<OwnedNode>>> put_down_leases(AcquirePtr acquire,
                                                                SemaphoreSpecPtr spec,
                                                                int permits) {
  const auto core = acquire->client().core();
  const std::string path = join(spec->leases->path, spec->leases->lock_name);
  std::vector<StartedOperation<Created>> creations;
  for (int i = 0; i < permits; ++i) {
    CreateOptions options{.mode = CreateMode::ephemeral_sequential,
                          .protection = Protection::by_unique_name,
                          .parents = Parents::created_as_containers,
                          .deadline = Deadline::never(),
                          .retry = acquire->retry()};
    creations.push_back(StartedOperation<Created>::start<&start_create>(
        acquire->client().get_executor(), core, acquire->give_up, path, spec->leases->identity,
        std::move(options)));
  }
  error_code error;
  std::vector<OwnedNode> leases;
  for (auto& creation : creations) {
    auto [failure, created] = co_await creation.get();
    if (failure) {
      error = failure;
      continue;
    }
    leases.emplace_back(core, std::move(created));
    // A KeptLock that lists its permit's node can tell the client's own permits by this entry.
    const LockSpec& place = *spec->leases;
    if (acquire->for_others) LocalQueue::of(place)->enter_apart(leases.back(), place);
  }
  if (error) co_return error;
  co_return std::move(leases);
}

/// Lists the leases. Arms a watch on the list if the caller will wait for the next change.
asio::awaitable<Result<Watched<Listing>>> list_leases(AcquirePtr acquire, SemaphoreSpecPtr spec,
                                                      Watching watching) {
  Result<Watched<Children>> seen =
      co_await read_children(acquire->client().core(), acquire->give_up, spec->leases->path,
                             acquire->operation(), watching);
  if (!seen) co_return seen.error();
  co_return Watched<Listing>{Listing{std::move(seen->value.names), spec->leases->rule},
                             std::move(seen->watch)};
}

/// The number of permits, and the watch on its next change.
using KnownMaximum = Watched<int>;

/// Reads the maximum, unless the watch of an earlier reading is still armed. Arms a watch if the
/// caller will wait for a change.
asio::awaitable<Result<KnownMaximum>> update(AcquirePtr acquire, SemaphoreSpecPtr spec,
                                             KnownMaximum known, Watching watching) {
  if (const int* fixed = std::get_if<int>(&spec->maximum)) co_return KnownMaximum{*fixed, {}};
  if (known.watch && !is_over(known.watch.state())) co_return std::move(known);
  const SharedNodePtr counter = std::get<SharedNodePtr>(spec->maximum);
  if (watching == Watching::yes) {
    Result<Watched<Versioned<std::int32_t>>> now =
        co_await read_and_watch<std::int32_t>(counter, acquire->give_up, acquire->operation());
    if (!now) co_return now.error();
    co_return KnownMaximum{now->value.value, std::move(now->watch)};
  }
  const auto [error, now] = co_await await<&start_load<std::int32_t>, Versioned<std::int32_t>>(
      acquire->client().core(), acquire->give_up, counter, acquire->operation());
  if (error) co_return error;
  co_return KnownMaximum{now.value, Watch{}};
}

/// Explains no_node: the contender's own node, or its parent, was deleted with the session or by
/// hand.
error_code what_it_means(error_code error, const OwnedNode& own) {
  if (error != ServerErrc::no_node) return error;
  return own.alive() ? Errc::node_deleted : Errc::session_lost;
}

PermitJudgement judge(const Listing& listing, const std::vector<OwnedNode>& mine, int maximum) {
  std::vector<std::string_view> names(mine.size());
  std::ranges::transform(mine, names.begin(), &OwnedNode::name);
  return judge_permits(listing, names, static_cast<std::size_t>(std::max(maximum, 0)));
}

/// Makes leases of all nodes, which must be within the maximum, or of none.
asio::awaitable<Result<Leases>> take_all(AcquirePtr acquire, std::vector<OwnedNode> nodes) {
  Leases all;
  for (OwnedNode& node : nodes) {
    Result<Leases> one = co_await take(acquire, std::move(node));
    if (!one) co_return one.error();
    all.push_back(std::move(one->front()));
  }
  // The first lease may have been lost before the last one was granted.
  for (const Lease& lease : all) {
    if (lease.state() == LeaseState::lost) co_return error_of(lease.loss_reason());
  }
  co_return std::move(all);
}

/// Notes the listing that has shown the permit within the maximum, for a KeptLock. `before` is the
/// connection from before the request: if the connection is still the same later, it showed the
/// listing.
void note_listing(Acquire& acquire, Watched<Listing>& listed, std::uint64_t before) {
  acquire.queue_watch = std::make_shared<Watch>(std::move(listed.watch));
  acquire.was_alone = listed.value.size() == 1;
  acquire.listed_on = before;
}

/// Finds the contender in the way, unless it is known already or of no interest, and reports it to
/// the caller.
asio::awaitable<error_code> look_who_holds(AcquirePtr acquire, SemaphoreSpecPtr spec, Full full) {
  std::optional<std::string> node;
  const bool wanted =
      acquire->options.on_position || acquire->wait_limit.limited() || acquire->shows_nearest;
  acquire->somebody_ahead = true;
  if (full.nearest && wanted) node = join(spec->leases->path, *full.nearest);
  const bool known = node && acquire->nearest && acquire->nearest->node == *node;
  if (!known) acquire->nearest.reset();
  if (node && !known) {
    auto [error, result] = co_await await<&start_get, GetResult>(
        acquire->client().core(), acquire->give_up, *node, acquire->operation());
    if (error && error != ServerErrc::no_node) co_return error;
    if (!error)
      acquire->nearest = std::make_unique<Participant>(
          participant_of(acquire->client(), std::move(*node), std::move(result)));
  }
  tell_position(*acquire, full.missing);
  co_return error_code{};
}

/// Waits at the turnstile until the maximum is no less than `permits`. Lease nodes created before
/// that would be in the way of all other contenders. The caller awaits this coroutine, so `place`
/// outlives it.
asio::awaitable<Result<KnownMaximum>> wait_for_maximum(
    AcquirePtr acquire, SemaphoreSpecPtr spec,
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
    OwnedNode& place, int permits) {
  KnownMaximum known{};
  for (Watching watching = Watching::no;; watching = Watching::yes) {
    if (watching == Watching::yes) {
      const error_code error = co_await watch_own(acquire, place);
      if (error) co_return what_it_means(error, place);
    }
    Result<KnownMaximum> now = co_await update(acquire, spec, std::move(known), watching);
    if (!now) co_return now.error();
    if (!place.alive()) co_return Errc::session_lost;
    if (permits <= now->value) co_return std::move(now);
    known = std::move(*now);
    acquire->somebody_ahead = true;
    if (acquire->wait_limit.try_once) co_return decline(*acquire);
    if (watching == Watching::no) continue;
    acquire->nearest.reset();
    tell_position(*acquire, static_cast<std::size_t>(permits - std::max(known.value, 0)));
    std::vector watchers{place.watch().state(), known.watch.state()};
    const error_code failure = co_await wait_for_any(acquire, std::move(watchers));
    if (failure) co_return failure;
  }
}

asio::awaitable<Result<Leases>> take_permits(AcquirePtr acquire, SemaphoreSpecPtr spec, int permits,
                                             OwnedNode turnstile) {
  Result<KnownMaximum> maximum = co_await wait_for_maximum(acquire, spec, turnstile, permits);
  if (!maximum) co_return maximum.error();
  Result<std::vector<OwnedNode>> leases = co_await put_down_leases(acquire, spec, permits);
  if (!leases) co_return leases.error();

  // A try needs no watches, and most acquires need not wait, so the first round has none. But for a
  // permit that will be kept the first listing has a watch, which `earlier` keeps armed during the
  // next listing.
  Watch earlier;
  for (Watching watching = Watching::no;; watching = Watching::yes) {
    if (watching == Watching::yes) {
      // An operator may delete the node at the turnstile, which lets the next contender in: the two
      // would count each other's leases and wait for ever. So the contender whose node was deleted
      // gives up.
      const error_code error = co_await watch_own(acquire, turnstile);
      if (error) co_return what_it_means(error, turnstile);
    }
    const Watching watches_leases = acquire->watches_queue ? Watching::yes : watching;
    const std::uint64_t connection = detail::connection_number(*acquire->client().core());
    Result<Watched<Listing>> listed = co_await list_leases(acquire, spec, watches_leases);
    if (!listed) co_return what_it_means(listed.error(), turnstile);
    // The maximum is read after the list: once it is lowered, no acquire is let in by the old
    // value.
    maximum = co_await update(acquire, spec, std::move(*maximum), watching);
    if (!maximum) co_return maximum.error();
    if (!turnstile.alive()) co_return Errc::session_lost;
    report_oddities(*spec->leases, listed->value);

    const PermitJudgement judgement = judge(listed->value, *leases, maximum->value);
    if (std::holds_alternative<Held>(judgement)) {
      if (acquire->watches_queue) note_listing(*acquire, *listed, connection);
      co_return co_await take_all(acquire, std::move(*leases));
    }
    if (std::holds_alternative<OwnNodeMissing>(judgement)) co_return Errc::node_deleted;
    if (std::holds_alternative<Exhausted>(judgement)) co_return Errc::sequence_exhausted;
    if (const auto* malformed = std::get_if<Malformed>(&judgement)) {
      co_return report_malformed(*spec->leases, malformed->name);
    }
    if (watching == Watching::no && !acquire->wait_limit.try_once) {
      earlier = std::move(listed->watch);
      continue;
    }
    error_code failure = co_await look_who_holds(acquire, spec, std::get<Full>(judgement));
    if (failure) co_return failure;
    if (acquire->wait_limit.try_once) co_return decline(*acquire);
    std::vector watchers{turnstile.watch().state(), listed->watch.state()};
    if (maximum->watch) watchers.push_back(maximum->watch.state());
    failure = co_await wait_for_any(acquire, std::move(watchers));
    if (failure) co_return failure;
  }
}

void begin_to_take(const AcquirePtr& acquire, const SemaphoreSpecPtr& spec, int permits) {
  stand_in_line(acquire, [acquire, spec, permits](error_code error, OwnedNode turnstile) {
    if (error) return end_attempt(acquire, error);
    attempt_by(acquire, take_permits(acquire, spec, permits, std::move(turnstile)));
  });
}

/// Takes the only permit of a semaphore mutex, for the waiters of its KeptLock.
void take_only_permit(const AcquirePtr& acquire) {
  const LockSpecPtr& turnstile = acquire->spec;
  begin_to_take(acquire,
                std::make_shared<const SemaphoreSpec>(
                    SemaphoreSpec{.turnstile = turnstile,
                                  .leases = turnstile->permits,
                                  .path = std::string{parent_of(turnstile->path)},
                                  .maximum = 1}),
                1);
}

bool is_at_or_below(std::string_view path, const std::string& parent) {
  return path == parent || path.starts_with(parent == "/" ? parent : parent + "/");
}

void check_counter(const Client& client, std::string_view name, const std::string& path,
                   const SharedNode& counter) {
  const auto refuse = [&](const std::string& why) {
    throw Error{Errc::invalid_argument, name, path,
                "maximum: the counter at " + counter.path + why};
  };
  if (counter.client.core() != client.core()) {
    refuse(" is another client's; make one of the semaphore's client");
  }
  if (is_at_or_below(path, counter.path) || is_at_or_below(counter.path, join(path, "locks")) ||
      is_at_or_below(counter.path, join(path, "leases"))) {
    refuse(" is a node of the semaphore's own, or above it; put it elsewhere, at " +
           join(path, "maximum") + " for instance");
  }
}

}  // namespace

SemaphoreSpecPtr make_semaphore_spec(const Client& client, std::string_view name,
                                     const std::string& path, Maximum maximum,
                                     const LockOptions& options, bool keeps) {
  check_path(client.core(), name, path);
  if (options.profile != NamingProfile::curator) {
    throw Error{Errc::invalid_argument, name, path,
                "profile: semaphores are laid out as Apache Curator's only; kazoo's are others"};
  }
  if (options.hand_off != HandOff::strict()) {
    throw Error{Errc::invalid_argument, name, path,
                "hand_off: a cohort passes on a lock, and this one's permits go to whoever came "
                "first"};
  }
  if (const int* fixed = std::get_if<int>(&maximum); fixed != nullptr && *fixed < 1) {
    throw Error{Errc::invalid_argument, name, path,
                "maximum: a semaphore has one permit or more, not " + std::to_string(*fixed)};
  }
  if (const auto* counter = std::get_if<SharedNodePtr>(&maximum)) {
    check_counter(client, name, path, **counter);
  }
  // Checked here as well, so that the error names the path that the caller gave, and not a child's
  // path.
  static_cast<void>(take_place(client, name, path));
  const auto queue_at = [&](std::string_view node, const NamingRule& rule) {
    return make_lock_spec(client, name, rule, ContenderKind::exclusive, join(path, node), options,
                          ObservedAs{name, path});
  };
  const std::shared_ptr<LockSpec> turnstile = queue_at("locks", mutex_rule);
  const LockSpecPtr leases = queue_at("leases", permit_rule);
  if (keeps && options.keep_idle_for.count() > 0) {
    turnstile->permits = leases;
    share_kept_lock(*turnstile, HandOff::strict(), options.keep_idle_for, {name, path},
                    &take_only_permit);
  }
  return std::make_shared<const SemaphoreSpec>(SemaphoreSpec{
      .turnstile = turnstile, .leases = leases, .path = path, .maximum = std::move(maximum)});
}

void check_permits(const SemaphoreSpec& spec, std::string_view operation, int permits) {
  const auto refuse = [&](const std::string& why) {
    throw Error{Errc::invalid_argument, operation, spec.path, "permits: " + why};
  };
  if (permits < 1) refuse("one or more can be acquired, not " + std::to_string(permits));
  if (permits > most_permits_at_once) {
    refuse(std::to_string(permits) + " at once are too many: the servers allow " +
           std::to_string(most_permits_at_once));
  }
  const int* fixed = std::get_if<int>(&spec.maximum);
  if (fixed != nullptr && permits > *fixed) {
    refuse(std::to_string(permits) + " can never be had of " + std::to_string(*fixed));
  }
}

void start_acquire_permits_within(const SemaphoreSpecPtr& spec, CancellationPtr cancellation,
                                  int permits, WaitLimit wait_limit, AcquireOptions options,
                                  Handler<Acquired> handler) {
  start(std::make_shared<Acquire>(Acquire{
            .spec = spec->turnstile,
            .wait_limit = wait_limit,
            .options = std::move(options),
            .attempt = [spec, permits](
                           const AcquirePtr& acquire) { begin_to_take(acquire, spec, permits); }}),
        std::move(cancellation), std::move(handler));
}

AcquireResult acquire_permit(const SemaphoreSpecPtr& spec, std::string_view operation,
                             const WaitLimit& limit, AcquireOptions options, std::stop_token stop) {
  refuse_stopped(stop, operation, spec->path);
  if (spec->turnstile->kept) {
    detail::require_may_block(*spec->turnstile->client.core(), operation, spec->path);
    if (Lease kept = take_kept(*spec->turnstile, options)) return {.lease = std::move(kept)};
  }
  return block_in_time<&start_acquire_permit, AcquireResult>(spec->turnstile->client, operation,
                                                             spec->path, spec, limit,
                                                             std::move(options), std::move(stop));
}

}  // namespace custodian::recipes_detail
