#include "client/operation.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/encoded_size.hpp"
#include "observe/observation.hpp"

namespace custodian::detail {

namespace asio = boost::asio;
using std::chrono::milliseconds;

Plan make_plan(const ClientCore& core, Deadline deadline, const std::optional<RetryPolicy>& retry,
               Repeat repeat) {
  return {deadline.or_default(core.options().operation_timeout),
          retry.value_or(core.options().retry), repeat};
}

void perform(const CorePtr& core, Request request, Plan plan, CancellationPtr cancellation,
             ReplyHandler handler, ReplyHandler late) {
  if (core->forked()) {  // no thread runs the strand here
    Reply reply;
    reply.error = Errc::forked;
    return std::move(handler)(std::move(reply));
  }
  auto operation = std::make_shared<Operation>(
      core, std::move(request), plan, std::move(cancellation), std::move(handler), std::move(late));
  core->on_strand([operation = std::move(operation)] { operation->start(); });
}

asio::awaitable<Reply> reply_to(CorePtr core, Request request, Plan plan,
                                CancellationPtr cancellation, ReplyHandler late) {
  return asio::async_initiate<const asio::use_awaitable_t<>, void(Reply)>(
      [](auto handler, CorePtr on, Request sent, Plan as_planned, CancellationPtr until,
         ReplyHandler afterwards) {
        perform(on, std::move(sent), as_planned, std::move(until), std::move(handler),
                std::move(afterwards));
      },
      asio::use_awaitable, std::move(core), std::move(request), plan, std::move(cancellation),
      std::move(late));
}

asio::awaitable<Reply> reply_to(CorePtr core, Request request, Plan plan,
                                CancellationPtr cancellation) {
  return reply_to(std::move(core), std::move(request), plan, std::move(cancellation),
                  ReplyHandler{});
}

asio::awaitable<void> pause(CorePtr core, milliseconds duration, Deadline deadline,
                            CancellationPtr cancellation) {
  const auto until = std::min(Deadline::Clock::now() + duration, deadline.time_point());
  const auto timer = std::make_shared<asio::steady_timer>(core->strand(), until);
  if (cancellation) {
    if (cancellation->requested()) co_return;
    cancellation->on_request(timer.get(), [timer] { timer->cancel(); });
  }
  co_await timer->async_wait(asio::as_tuple(asio::use_awaitable));
  if (cancellation) cancellation->forget(timer.get());
}

Operation::Operation(CorePtr core, Request request, Plan plan, CancellationPtr cancellation,
                     ReplyHandler handler, ReplyHandler late)
    : core_{std::move(core)},
      request_{std::move(request)},
      plan_{plan},
      cancellation_{std::move(cancellation)},
      handler_{std::move(handler)},
      late_{std::move(late)},
      timer_{core_->strand()} {}

// The core's list has a raw pointer to each operation.
Operation::~Operation() { core_->leave(*this); }

void Operation::start() {
  if (core_->closed()) return finish(Errc::closed);
  // A request that is too large is refused before the wait for a connection, which would only delay
  // the error.
  const bool fits = encoded_size(request_) <= core_->options().max_request_size;
  if (!fits) return finish(Errc::request_too_large);
  if (cancellation_) {
    if (cancellation_->requested()) return finish(asio::error::operation_aborted);
    cancellation_->on_request(this, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->finish(asio::error::operation_aborted);
    });
  }
  core_->enter(*this);
  attempt();
}

void Operation::attempt() {
  if (plan_.deadline.passed()) return finish(Errc::deadline_exceeded);
  const bool connected = core_->connected();
  // Without a connection, a timer is set even if there is no deadline: the timer's handler keeps
  // this object alive.
  if (!connected || !plan_.deadline.is_never()) wake_at(plan_.deadline.time_point());
  if (!connected) {
    if (plan_.retry == RetryPolicy::none()) return finish(Errc::not_connected);
    phase_ = Phase::waiting_for_connection;
    return;
  }
  phase_ = Phase::in_flight;
  core_->submit(request_,
                [self = shared_from_this()](Reply reply) { self->on_reply(std::move(reply)); });
}

void Operation::on_connected() {
  if (phase_ == Phase::waiting_for_connection) attempt();
}

void Operation::on_reply(Reply reply) {
  if (phase_ == Phase::finished) {  // the deadline or a cancellation came first
    if (late_) std::move(late_)(std::move(reply));
    return;
  }
  if (reply.stamp.connection != 0) stamp_ = reply.stamp;
  if (!reply.error) return finish(std::move(reply));
  // With these errors, the request was certainly not applied, so any request may be repeated.
  const bool unchanged =
      reply.error == Errc::not_connected || reply.error == ServerErrc::throttled ||
      reply.error == ServerErrc::session_moved || reply.error == ServerErrc::session_expired ||
      // Another server may not want authentication yet. If all do, the session ends.
      reply.error == ServerErrc::session_closed_require_sasl_auth;
  const bool unknown = reply.error == ErrorCondition::outcome_unknown;
  if (unchanged || (unknown && plan_.repeat == Repeat::always)) return retry(reply.error);
  finish(std::move(reply));
}

void Operation::retry(error_code error) {
  const auto now = Deadline::Clock::now();
  const auto pause = plan_.retry.pause_before(
      {retries_++, std::chrono::duration_cast<milliseconds>(now - began_), core_->random()});
  if (!pause) return finish(error);
  if (Observation* const observation = core_->observation()) {
    observation->tell_retried(request_, error, retries_, *pause);
  }
  phase_ = Phase::pausing;
  wake_at(std::min(now + *pause, plan_.deadline.time_point()));
}

void Operation::wake_at(Deadline::Clock::time_point time) {
  timer_.expires_at(time);
  timer_.async_wait([self = shared_from_this()](error_code error) {
    if (!error) self->on_time();
  });
}

void Operation::on_time() {
  if (phase_ == Phase::finished) return;
  if (Deadline::Clock::now() < timer_.expiry()) return;  // the timer was set anew meanwhile
  if (phase_ == Phase::pausing) return attempt();
  const bool may_be_applied = phase_ == Phase::in_flight && is_write();
  finish(may_be_applied ? Errc::deadline_exceeded_outcome_unknown : Errc::deadline_exceeded);
}

void Operation::finish(error_code error) {
  Reply reply;
  reply.error = error;
  reply.stamp = stamp_;
  // Without a connection in its stamp, the reply would say that the request was never sent.
  if (phase_ == Phase::in_flight && stamp_.connection == 0) {
    reply.stamp.connection = core_->own_session_info().connection;
  }
  finish(std::move(reply));
}

void Operation::finish(Reply reply) {
  if (phase_ == Phase::finished) return;
  const auto self = shared_from_this();  // keeps this object until the handler has been called
  core_->leave(*this);
  phase_ = Phase::finished;
  timer_.cancel();
  if (cancellation_) cancellation_->forget(this);
  // An exists arms its watch on a missing node, too: for its creation.
  const bool armed = !reply.error || (reply.error == ServerErrc::no_node &&
                                      std::holds_alternative<request::Exists>(request_));
  if (!armed) {
    if (const auto watch = watcher()) core_->session().unwatch(watch);
  }
  std::move(handler_)(std::move(reply));
}

bool Operation::is_write() const {
  return std::visit(
      [](const auto& request) {
        using T = std::decay_t<decltype(request)>;
        return std::is_same_v<T, request::Create> || std::is_same_v<T, request::Remove> ||
               std::is_same_v<T, request::Set> || std::is_same_v<T, request::SetAcl> ||
               std::is_same_v<T, request::Multi>;
      },
      request_);
}

std::shared_ptr<Watcher> Operation::watcher() const {
  return std::visit(
      [](const auto& request) -> std::shared_ptr<Watcher> {
        if constexpr (requires { request.watcher; }) return request.watcher;
        return nullptr;
      },
      request_);
}

}  // namespace custodian::detail
