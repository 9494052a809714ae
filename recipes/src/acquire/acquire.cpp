#include "acquire/acquire.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "acquire/deadlock_watch.hpp"
#include "acquire/not_acquired.hpp"
#include "acquire/pending_acquires.hpp"
#include "acquire/reachability.hpp"
#include "custodian/authoring/spawn.hpp"

// One acquire, around any kind of attempt:
//
// 1. start() checks the client and the options in the caller's thread, and hops to the strand.
// 2. run() registers the acquire with everything that may end it early: the client's end, the
//    caller's cancellation, the deadline, the watch over the reachability of the servers, and the
//    search for deadlocks. Each of them requests `give_up`.
// 3. The attempt ends with end_attempt(). If its session was lost, another attempt queues again in
//    the client's next session, unless the caller has refused that or the acquire is a try.
// 4. finish() unregisters the acquire, translates the error, and calls the handler.

namespace custodian::recipes_detail {

namespace asio = boost::asio;

namespace {

PendingAcquires& pending_acquires(const Acquire& acquire) {
  return Client{acquire.client().share()}.use_service<PendingAcquires>();
}

/// The caller's error. An early end arrives as operation_aborted; its cause decides which error the
/// caller gets instead.
error_code verdict(const Acquire& acquire, const PendingAcquires& service, error_code error) {
  if (error != asio::error::operation_aborted) return error;
  if (service.closing()) return Errc::closed;
  if (acquire.out_of_reach) return Errc::not_connected;
  if (!acquire.deadlock.empty()) {
    return make_error_code(boost::system::errc::resource_deadlock_would_occur);
  }
  if (acquire.declined || (acquire.late && acquire.has_queued)) return {};
  return acquire.late ? make_error_code(Errc::deadline_exceeded) : error;
}

/// Why an acquire with a limit has no lease. An end for lack of time or of a connection is a result
/// with a reason. Every other end without a lease is an error, and the reason is `none`.
NotAcquired reason_of(const Acquire& acquire, const error_code& error, const Acquired& acquired) {
  if (!acquired.leases.empty() || !acquire.wait_limit.limited()) return NotAcquired::none;
  if (error && !is_lack_of_answer(error)) return NotAcquired::none;
  const bool failing =
      acquire.options.requeue == RequeuePolicy::fail && !acquire.wait_limit.try_once;
  if (failing && error == Errc::session_lost) return NotAcquired::none;
  return why_not_acquired(acquire.somebody_ahead || acquire.declined || acquired.blocked_by,
                          is_connected(acquire.client().connection_state()));
}

void finish(Acquire& acquire, Result<Leases> attempt) {
  auto& service = pending_acquires(acquire);
  acquire.held.release();
  acquire.timer.reset();
  if (acquire.reachability_watch) acquire.reachability_watch->request();
  if (acquire.deadlock_watch) acquire.deadlock_watch->request();
  acquire.under_way.end();
  if (acquire.callers) acquire.callers->forget(&acquire);
  service.leave(acquire.give_up);
  error_code error = verdict(acquire, service, attempt.error());
  Acquired acquired;
  if (attempt) acquired.leases = std::move(*attempt);
  acquire.observed.end(acquire.wait_limit, error, acquired.leases.size());
  if (acquired.leases.empty() && acquire.nearest) acquired.blocked_by = std::move(*acquire.nearest);
  acquired.reason = reason_of(acquire, error, acquired);
  if (error == boost::system::errc::resource_deadlock_would_occur) {
    acquired.deadlock = std::move(acquire.deadlock);
  }
  if (acquired.reason != NotAcquired::none) error.clear();
  std::move(acquire.handler)(error, std::move(acquired));
}

void run(const AcquirePtr& acquire) {
  auto& service = pending_acquires(*acquire);
  if (service.closing()) return finish(*acquire, Errc::closed);
  service.enter(acquire);
  acquire->under_way = AcquiresUnderWay::of(acquire->client().core()).enter();
  if (acquire->callers) {
    acquire->callers->on_request(acquire.get(),
                                 [give_up = acquire->give_up] { give_up->request(); });
    // A request that came before on_request() does not call the handler, so it is looked for here.
    if (acquire->callers->requested()) acquire->give_up->request();
  }
  if (!acquire->wait_limit.deadline.is_never()) {
    acquire->timer = std::make_unique<asio::steady_timer>(
        acquire->client().get_executor(), acquire->wait_limit.deadline.time_point());
    acquire->timer->async_wait([acquire](error_code cancelled) {
      if (cancelled) return;
      acquire->late = true;
      acquire->give_up->request();
    });
  }
  if (acquire->wait_limit.max_unreachable) {
    acquire->reachability_watch = std::make_shared<Cancellation>(acquire->client().core());
    spawn(acquire->client().core(), "watching over an acquire of " + acquire->spec->path,
          watch_reachability(acquire, acquire->reachability_watch), [acquire](error_code) {
            acquire->out_of_reach = true;
            acquire->give_up->request();
          });
  }
  if (acquire->options.detect_deadlock && !acquire->wait_limit.try_once) {
    acquire->deadlock_watch = std::make_shared<Cancellation>(acquire->client().core());
    spawn(acquire->client().core(), "detecting deadlocks of an acquire of " + acquire->spec->path,
          watch_for_deadlock(acquire, acquire->deadlock_watch));
  }
  acquire->attempt(acquire);
}

asio::awaitable<void> await_attempt(AcquirePtr acquire, asio::awaitable<Result<Leases>> coroutine) {
  Result<Leases> attempt = co_await std::move(coroutine);
  end_attempt(acquire, std::move(attempt));
}

}  // namespace

error_code decline(Acquire& acquire) {
  acquire.declined = true;
  return asio::error::operation_aborted;
}

void end_attempt(const AcquirePtr& acquire, Result<Leases> attempt) {
  const bool again = attempt.error() == Errc::session_lost &&
                     acquire->options.requeue == RequeuePolicy::queue_again &&
                     !acquire->wait_limit.try_once;
  if (!again) return finish(*acquire, std::move(attempt));
  acquire->nearest.reset();
  acquire->asked = false;
  acquire->somebody_ahead = false;
  acquire->queue_watch.reset();
  acquire->was_alone = false;
  if (acquire->options.on_requeued) {
    asio::post(acquire->client().callback_executor(), acquire->options.on_requeued);
  }
  asio::post(acquire->client().get_executor(), [acquire] { acquire->attempt(acquire); });
}

void attempt_by(const AcquirePtr& acquire, asio::awaitable<Result<Leases>> coroutine) {
  spawn(acquire->client().core(), "an acquire of " + acquire->spec->path,
        await_attempt(acquire, std::move(coroutine)), [acquire](error_code error) {
          // The coroutine ended by an exception. If it had completed the acquire before, the
          // handler is empty.
          if (acquire->handler) end_attempt(acquire, error);
        });
}

void start(AcquirePtr what, CancellationPtr cancellation, Handler<Acquired> handler) {
  const Client& client = what->client();
  error_code error = client.unusable();
  if (!error && !is_valid(what->options.lease)) error = Errc::invalid_argument;
  if (!error && !may_watch_for_deadlock(*what)) error = Errc::invalid_argument;
  if (error) return std::move(handler)(error, Acquired{});
  if (what->wait_limit.try_once && what->wait_limit.deadline.is_never()) {
    what->wait_limit.deadline = client.deadline_or_default(Deadline{});
  }
  what->give_up = std::make_shared<Cancellation>(client.core());
  what->callers = std::move(cancellation);
  // Swapped, not assigned: in Boost 1.81 the move assignment of a handler never returns.
  what->handler.swap(handler);
  if (!what->for_others) what->observed = ObservedAcquire{what->spec};
  const asio::any_io_executor strand = client.get_executor();
  asio::dispatch(strand, [acquire = std::move(what)] { run(acquire); });
}

Handler<Acquired> as_one_lease(Handler<AcquireResult> handler) {
  return [handler = std::move(handler)](error_code error, Acquired acquired) mutable {
    AcquireResult result{.lease = {},
                         .blocked_by = std::move(acquired.blocked_by),
                         .reason = acquired.reason,
                         .deadlock = std::move(acquired.deadlock)};
    if (!acquired.leases.empty()) result.lease = std::move(acquired.leases.front());
    std::move(handler)(error, std::move(result));
  };
}

}  // namespace custodian::recipes_detail
