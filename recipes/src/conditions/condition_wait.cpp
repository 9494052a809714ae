#include "conditions/condition_wait.hpp"

#include <utility>
#include <vector>

#include "conditions/signalling.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/owned_node.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/time_limit.hpp"

// A wait, as docs/model/condition.pml has it (its guards in capitals):
//
// 1. With the lock held, create the waiter's own node in the line of waiters (NODE_FIRST), and
//    clear up the signals that earlier waiters have left.
// 2. Watch the waiter's own node, which a signal changes, and the nearest waiter in front. A signal
//    that came before the watch shows in the node's version, which the same request reads
//    (READS_OWN). Release the lock.
// 3. Sleep. When the waiter in front has gone (ANY_LOWER), its signal may be left: pass on all
//    signals that are left (RULE_A), and watch the next waiter in front.
// 4. When signalled, late or stopped, queue for the lock.
// 5. With the lock held, take the signal: one transaction removes it and the waiter's own node. A
//    waiter that is late or stopped tries that, too (TIMEOUT_COUNTS).
//
// A waiter that gives up between any two steps only loses its own node: the waiters behind pass on
// a signal that is left.

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

/// Why a sleep has ended.
enum class Wakening : std::uint8_t { signalled, node_gone, late, stopped };

/// A waiter's place in the line.
struct Place {
  OwnedNode own;
  Watch in_front{};
  bool was_signalled = false;  ///< a signal came before the node was watched
};

OperationOptions patient(const ConditionSpec& condition) {
  return {Deadline::never(), condition.client.retry_policy().unlimited()};
}

asio::awaitable<Result<OwnedNode>> create_own(ConditionSpecPtr condition,
                                              CancellationPtr cancellation) {
  CreateOptions options{.mode = CreateMode::ephemeral_sequential,
                        .protection = Protection::by_unique_name,
                        .parents = Parents::created_as_containers,
                        .deadline = Deadline::never(),
                        .retry = condition->client.retry_policy().unlimited()};
  const std::string path = join(condition->path, waiter_name);
  auto [error, created] = co_await await<&start_create, Created>(
      condition->client.core(), cancellation, path, condition->lock->identity, std::move(options));
  if (error) co_return error;
  OwnedNode own{condition->client.core(), std::move(created)};
  if (!is_waiter(own.name())) co_return Errc::sequence_exhausted;
  co_return std::move(own);
}

/// Clears up the signals of waiters that have gone. If a waiter in front of this one has no signal,
/// they are passed on to it. Otherwise they are removed: a signal from before this waiter's time is
/// not for it. `held` checks that the lock is still held: without the lock a signal may be for a
/// later waiter.
asio::awaitable<error_code> clear_up(ConditionSpecPtr condition, CancellationPtr cancellation,
                                     std::string own, TransactionOperation held) {
  const OperationOptions options = patient(*condition);
  const Result<ConditionLine> line = co_await list_line(condition, cancellation, options);
  if (!line) co_return line.error();
  const std::vector<std::string> waiting = line->unsignalled(1);
  if (line->left_signals().empty()) co_return error_code{};
  if (!waiting.empty() && waiting.front() != own) {
    const Result<ConditionLine> now = co_await pass_on(condition, cancellation, options, *line);
    co_return now ? error_code{} : now.error();
  }
  for (const std::string& gone : line->left_signals()) {
    // The signal's name is unique, so it does no harm to remove it twice.
    const std::string signal = join(condition->path, signal_to(gone));
    error_code error;
    std::vector<TransactionResult> results;
    do {
      Transaction removal{held, remove(signal)};
      std::tie(error, results) = co_await await<&start_commit, std::vector<TransactionResult>>(
          condition->client.core(), cancellation, std::move(removal), options);
    } while (error == ErrorCondition::outcome_unknown);
    const bool is_refused = error == ServerErrc::no_node && results.size() == 2;
    if (is_refused && results[0].error == ServerErrc::no_node) co_return Errc::lock_lost;
    if (error && !is_refused) co_return error;
  }
  co_return error_code{};
}

// The caller awaits this coroutine, so `place` outlives it.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
asio::awaitable<error_code> watch_own(ConditionSpecPtr condition, CancellationPtr cancellation,
                                      Place& place) {
  const OperationOptions options = patient(*condition);
  auto [error, found, watch] = co_await await<&start_get_and_watch, GetResult, Watch>(
      condition->client.core(), cancellation, place.own.path(), options);
  // Only a signal writes to the node, so a new version shows one.
  place.was_signalled = !error && found.stat.version != 0;
  if (!error) place.own.set_watch(std::move(watch));
  co_return error;
}

/// Passes on the signals that are left, and watches the nearest waiter in front.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
asio::awaitable<error_code> watch_in_front(ConditionSpecPtr condition, CancellationPtr cancellation,
                                           Place& place) {
  const OperationOptions options = patient(*condition);
  place.in_front = Watch{};
  for (;;) {
    const Result<ConditionLine> listed = co_await list_line(condition, cancellation, options);
    if (!listed) co_return listed.error();
    const Result<ConditionLine> line = co_await pass_on(condition, cancellation, options, *listed);
    if (!line) co_return line.error();
    const auto in_front = line->in_front_of(place.own.name());
    if (!in_front) co_return error_code{};
    // An ephemeral node has no children, so a watch on its children fires only when it is deleted.
    // A signal to the waiter in front, which writes to its node, does not wake this one.
    const std::string path = join(condition->path, *in_front);
    auto [error, none, watch] = co_await await<&start_children_and_watch, Children, Watch>(
        condition->client.core(), cancellation, path, options);
    if (!error) place.in_front = std::move(watch);
    if (error != ServerErrc::no_node) co_return error;
  }
}

/// Does all that must be done before the lock is released: clears up, and arms both watches.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
asio::awaitable<error_code> take_place(ConditionSpecPtr condition, CancellationPtr cancellation,
                                       Place& place, TransactionOperation held) {
  const std::string own{place.own.name()};
  error_code error = co_await clear_up(condition, cancellation, own, held);
  if (!error) error = co_await watch_own(condition, cancellation, place);
  if (!error) error = co_await watch_in_front(condition, cancellation, place);
  co_return error == ServerErrc::no_node ? make_error_code(Errc::node_deleted) : error;
}

/// Why the waiter wakes, as its own node and the watch on it show; nothing while it must sleep.
std::optional<Wakening> wakening_of(const Place& place) {
  if (!place.own.alive()) return Wakening::node_gone;
  if (place.was_signalled) return Wakening::signalled;
  if (!is_over(place.own.watch().state())) return std::nullopt;
  const bool deleted = event_of(place.own.watch().state()) == WatchEventType::deleted;
  return deleted ? Wakening::node_gone : Wakening::signalled;
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
asio::awaitable<Result<Wakening>> sleep(ConditionSpecPtr condition, CancellationPtr callers,
                                        Place& place, Deadline until, std::stop_token stop) {
  const auto core = condition->client.core();
  const auto strand = co_await asio::this_coro::executor;
  const TimeLimit limit{core, strand, until, callers};
  const CancellationPtr cancellation = limit.cancellation();
  const std::stop_callback on_stop{stop, [cancellation] { cancellation->request(); }};
  for (;;) {
    error_code error;
    const bool has_gone = place.in_front && is_over(place.in_front.state());
    if (has_gone) error = co_await watch_in_front(condition, cancellation, place);
    if (const auto woken = wakening_of(place)) co_return *woken;
    if (!error) {
      std::vector watchers{place.own.watch().state()};
      if (place.in_front) watchers.push_back(place.in_front.state());
      std::tie(error) = co_await await<&start_wait_any>(core, cancellation, std::move(watchers));
      if (const auto woken = wakening_of(place)) co_return *woken;
      if (error == Errc::session_lost) continue;
    }
    if (limit.has_ended(error)) co_return Wakening::late;
    const bool cancelled = callers && callers->requested();
    if (error && stop.stop_requested() && !cancelled) co_return Wakening::stopped;
    if (error) co_return error;
  }
}

enum class Taking : std::uint8_t { taken, no_signal, lock_lost };

/// Takes the signal, with the lock held: removes it and the waiter's own node. Sets `in_doubt` if a
/// reply was lost, so that the signal may have been taken. Cannot be cancelled, because a signal
/// that was taken must be used.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
asio::awaitable<Result<Taking>> take_signal(ConditionSpecPtr condition, Place& place,
                                            const Lease& lease, bool& in_doubt) {
  const OperationOptions options = patient(*condition);
  const std::string signal = join(condition->path, signal_to(place.own.name()));
  const CancellationPtr nobody;
  for (;;) {
    Transaction transaction{lease.check(), remove(place.own.path()), remove(signal)};
    const auto [error, results] = co_await await<&start_commit, std::vector<TransactionResult>>(
        condition->client.core(), nobody, std::move(transaction), options);
    if (!error) {
      place.own.note_gone();
      co_return Taking::taken;
    }
    if (error == ErrorCondition::outcome_unknown) {
      in_doubt = true;
      continue;
    }
    if (error != ServerErrc::no_node || results.size() != 3) co_return error;
    if (results[0].error == ServerErrc::no_node) co_return Taking::lock_lost;
    // If a reply was lost and the node is missing, an earlier transaction has removed it, with the
    // signal.
    const bool is_gone = results[1].error == ServerErrc::no_node;
    co_return (is_gone && in_doubt) ? Taking::taken : Taking::no_signal;
  }
}

ConditionStatus status_of(Wakening woken) {
  switch (woken) {
    case Wakening::late: return ConditionStatus::timeout;
    case Wakening::stopped: return ConditionStatus::stopped;
    case Wakening::signalled:
    case Wakening::node_gone: break;
  }
  return ConditionStatus::spurious;
}

/// Queues for the lock, and takes the signal, if there is one. A waiter that may have taken it
/// already cannot be cancelled any more.
asio::awaitable<Result<Woken>> return_with_lock(ConditionSpecPtr condition,
                                                CancellationPtr cancellation, Place place,
                                                Wakening woken) {
  place.in_front = Watch{};
  bool in_doubt = false;
  for (;;) {
    const WaitLimit no_limit;
    AcquireOptions options;
    if (in_doubt) cancellation.reset();
    auto [error, acquired] = co_await await<&start_acquire, AcquireResult>(
        condition->client.core(), cancellation, condition->lock, no_limit, std::move(options));
    if (error) co_return error;
    // The node has gone with its session, or an operator has deleted it. A signal to the node is
    // passed on. If the signal may have been taken, the result says `signalled`, so that no signal
    // is lost.
    if (!place.own.alive() || woken == Wakening::node_gone) {
      const auto status = in_doubt ? ConditionStatus::signalled : status_of(woken);
      co_return Woken{status, std::move(acquired.lease)};
    }
    const Result<Taking> taking = co_await take_signal(condition, place, acquired.lease, in_doubt);
    if (!taking) co_return taking.error();
    if (*taking == Taking::lock_lost) continue;
    const bool taken = *taking == Taking::taken;
    in_doubt = in_doubt || taken;
    // The lock was lost while the reply was on its way, so the waiter queues for it again.
    if (acquired.lease.state() == LeaseState::lost) continue;
    co_return Woken{taken ? ConditionStatus::signalled : status_of(woken),
                    std::move(acquired.lease)};
  }
}

}  // namespace

asio::awaitable<Result<Woken>> wait_at(ConditionSpecPtr condition, CancellationPtr cancellation,
                                       Lease lease, Deadline until, std::stop_token stop) {
  Result<OwnedNode> created = co_await create_own(condition, cancellation);
  if (!created) co_return created.error();
  Place place{std::move(*created)};
  const TransactionOperation held = lease.check();
  error_code error = co_await take_place(condition, cancellation, place, held);
  if (lease.state() == LeaseState::lost || !place.own.alive()) error = Errc::lock_lost;
  if (error) co_return error;

  lease.release();
  const Result<Wakening> woken =
      co_await sleep(condition, cancellation, place, until, std::move(stop));
  if (!woken) co_return woken.error();
  co_return co_await return_with_lock(condition, cancellation, std::move(place), *woken);
}

}  // namespace custodian::recipes_detail
