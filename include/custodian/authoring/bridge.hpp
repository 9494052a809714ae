#pragma once

/// \file
/// The bridge between the client's strand and its users, for the client's own operations and for
/// recipes: completion tokens, cancellation, blocking. Authors of recipes use it; an application
/// does not.
///
/// A public function template only initiates: it erases the handler's type and calls a compiled
/// function. Four promises are kept here and nowhere else:
///
/// *Executor.* A handler never runs on the client's strand, nor inside the initiating function: it
/// is posted to its own executor, or to the client's callback executor if it has none.
///
/// *Cancellation.* A cancellation may be requested on any thread; it takes effect on the strand. A
/// request after the end of the operation does nothing.
///
/// *Coroutines.* A coroutine on the strand is resumed by the reply itself, without another turn of
/// the strand's queue.
///
/// *Blocking.* A blocking call gets its result as a value and throws in the caller's thread. On a
/// thread that the call would have to wait for, it throws would_deadlock.

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <tuple>
#include <utility>

#include "custodian/deadline.hpp"
#include "custodian/error.hpp"
#include "custodian/export.hpp"

namespace custodian {

namespace detail {
class ClientCore;
}

/// The inner object of a client (`Client::core()`), which recipes only pass on.
using CorePtr = std::shared_ptr<detail::ClientCore>;

/// A handler of any type, which is called with an error code and these results. Construct,
/// move-construct or swap it, but do not move-assign it: Boost 1.81's move assignment never
/// returns.
template <typename... Results>
using Handler = boost::asio::any_completion_handler<void(error_code, Results...)>;

/// Carries a request to cancel from any thread to the client's strand.
class CUSTODIAN_EXPORT Cancellation : public std::enable_shared_from_this<Cancellation> {
 public:
  /// Makes the cancellation of an operation of this client. A request does nothing when the client
  /// is gone, or in the child of a fork.
  explicit Cancellation(std::weak_ptr<detail::ClientCore> core) : core_{std::move(core)} {}

  /// Requests the cancellation. Any thread. The actions run on the strand, once; within this call
  /// if it is made on the strand.
  void request();
  /// Sets an action that runs when the cancellation is requested, until forget() is called with the
  /// same key. The key is an address that no other action has, such as that of the waiting object.
  /// Does nothing if the cancellation was requested before, so call requested(), too. Called on the
  /// strand.
  void on_request(const void* key, std::function<void()> action);
  /// Removes the action of this key. Called on the strand.
  void forget(const void* key);
  /// Whether the cancellation was requested. Called on the strand.
  [[nodiscard]] bool requested() const noexcept { return requested_; }

 private:
  std::weak_ptr<detail::ClientCore> core_;
  std::map<const void*, std::function<void()>> actions_;
  bool requested_ = false;
};

/// An operation shares its cancellation with the code that may request it. Null: the operation
/// cannot be cancelled.
using CancellationPtr = std::shared_ptr<Cancellation>;

/// Throws the error of a blocking call, if there is one. The message has the text of `why`. If
/// `why` is empty, the call found no server in time, and there is no connection now, the message
/// names the servers.
CUSTODIAN_EXPORT void throw_if(const detail::ClientCore& core, error_code error,
                               std::string_view operation, std::string_view path,
                               std::string_view why = {});

namespace detail {

[[nodiscard]] CUSTODIAN_EXPORT boost::asio::any_io_executor callback_executor(
    const ClientCore& core);
/// The same as Client::get_executor().
[[nodiscard]] CUSTODIAN_EXPORT boost::asio::any_io_executor strand_of(const ClientCore& core);
/// The present `SessionInfo::connection`. Called on the strand.
[[nodiscard]] CUSTODIAN_EXPORT std::uint64_t connection_number(const ClientCore& core);
/// How long a blocking call waits, after its deadline, for the client's context to end the
/// operation.
inline constexpr std::chrono::milliseconds blocking_grace{100};

CUSTODIAN_EXPORT void require_may_block(const ClientCore& core, std::string_view operation,
                                        std::string_view path);
/// Returns `deadline`, or the client's operation timeout from now if `deadline` is a default one.
[[nodiscard]] CUSTODIAN_EXPORT Deadline deadline_or_default(const ClientCore& core,
                                                            Deadline deadline);
/// Throws `unended` for a blocking call that the client's context has not ended in time.
[[noreturn]] CUSTODIAN_EXPORT void throw_unended(Errc unended, std::string_view operation,
                                                 std::string_view path);

template <typename Handler, typename Executor>
struct PostedHandler {
  Handler handler;
  Executor executor;

  template <typename... Results>
  void operator()(Results... results) {
    boost::asio::post(executor, boost::asio::append(std::move(handler), std::move(results)...));
  }
};

template <typename Handler>
auto posted(Handler handler, const ClientCore& core) {
  auto executor =
      boost::asio::prefer(boost::asio::get_associated_executor(handler, callback_executor(core)),
                          boost::asio::execution::outstanding_work.tracked);
  return PostedHandler<Handler, decltype(executor)>{std::move(handler), std::move(executor)};
}

template <typename Handler>
CancellationPtr cancellation_of(const Handler& handler, const std::shared_ptr<ClientCore>& core) {
  auto slot = boost::asio::get_associated_cancellation_slot(handler);
  if (!slot.is_connected()) return nullptr;
  auto cancellation = std::make_shared<Cancellation>(core);
  slot.assign([cancellation](boost::asio::cancellation_type type) {
    if (type != boost::asio::cancellation_type::none) cancellation->request();
  });
  return cancellation;
}

}  // namespace detail

/// Starts an operation for a completion token: calls the compiled function `Start(core,
/// cancellation, arguments..., handler)`. The cancellation is null if the token's handler has no
/// cancellation slot.
template <typename Signature, auto Start, typename Token, typename... Arguments>
auto initiate(CorePtr core, Token&& token, Arguments... arguments) {
  return boost::asio::async_initiate<Token, Signature>(
      [](auto handler, CorePtr on, Arguments... passed) {
        CancellationPtr cancellation = detail::cancellation_of(handler, on);
        auto erased = detail::posted(std::move(handler), *on);
        Start(std::move(on), std::move(cancellation), std::move(passed)..., std::move(erased));
      },
      token, std::move(core), std::move(arguments)...);
}

/// Starts an operation from a coroutine on the strand, by calling `Start` as initiate() does.
/// `co_await` gives the error and the results.
///
/// Every argument must be a named object or trivial: g++ 12 destroys other temporaries in a
/// `co_await` expression twice.
template <auto Start, typename... Results, typename... Arguments>
boost::asio::awaitable<std::tuple<error_code, Results...>> await(CorePtr core,
                                                                 CancellationPtr cancellation,
                                                                 Arguments... arguments) {
  const auto token = boost::asio::as_tuple(boost::asio::use_awaitable);
  return boost::asio::async_initiate<decltype(token), void(error_code, Results...)>(
      [](auto handler, CorePtr on, CancellationPtr until, Arguments... passed) {
        Start(std::move(on), std::move(until), std::move(passed)...,
              Handler<Results...>{std::move(handler)});
      },
      token, std::move(core), std::move(cancellation), std::move(arguments)...);
}

/// Starts an operation, by calling `Start` as initiate() does, and blocks until the operation has
/// ended: returns the error and the results. `stop` cancels the operation.
///
/// The operation ends by itself at its deadline, in a handler that the client's context runs. If no
/// thread runs the context, the operation does not end: so the caller waits until a tenth of a
/// second after `end`, and no longer. Then the result is empty, and the operation is cancelled. If
/// the context runs again later, the operation's result is destroyed: a lease, for example, is
/// released. `end` must be the operation's deadline, and not a default one: call
/// Client::deadline_or_default() first.
template <auto Start, typename... Results, typename... Arguments>
std::optional<std::tuple<error_code, Results...>> block_until(CorePtr core,
                                                              std::string_view operation,
                                                              std::string_view path,
                                                              std::stop_token stop, Deadline end,
                                                              Arguments... arguments) {
  detail::require_may_block(*core, operation, path);
  struct Outcome {
    std::mutex mutex;
    std::condition_variable arrived;
    std::optional<std::tuple<error_code, Results...>> value;
    bool abandoned = false;
  };
  const auto outcome = std::make_shared<Outcome>();
  const auto settle = [outcome](error_code error, Results... results) {
    {
      const std::lock_guard lock{outcome->mutex};
      if (outcome->value || outcome->abandoned) return;
      outcome->value.emplace(error, std::move(results)...);
    }
    // The mutex is unlocked first, so that the thread that wakes need not wait for it.
    outcome->arrived.notify_one();
  };
  // If the handler is destroyed uncalled, with its executor's context, the caller still wakes.
  std::shared_ptr<void> last_word{nullptr, [settle](void*) { settle(Errc::closed, Results{}...); }};
  CancellationPtr cancellation;
  if (stop.stop_possible() || !end.is_never()) cancellation = std::make_shared<Cancellation>(core);
  Handler<Results...> handler{
      [settle, last_word = std::move(last_word)](error_code error, Results... results) {
        settle(error, std::move(results)...);
      }};
  Start(std::move(core), cancellation, std::move(arguments)..., std::move(handler));
  const std::stop_callback on_stop{stop, [&cancellation] {
                                     if (cancellation) cancellation->request();
                                   }};
  std::unique_lock lock{outcome->mutex};
  const auto arrived = [&] { return outcome->value.has_value(); };
  if (end.is_never()) {
    outcome->arrived.wait(lock, arrived);
  } else if (const auto last = detail::saturated_sum(end.time_point(), detail::blocking_grace);
             !outcome->arrived.wait_until(lock, last, arrived)) {
    outcome->abandoned = true;
    lock.unlock();
    cancellation->request();
    return std::nullopt;
  }
  return std::move(outcome->value);
}

/// Blocks as block_until() does, but without a limit: returns the error and the results.
template <auto Start, typename... Results, typename... Arguments>
std::tuple<error_code, Results...> block(CorePtr core, std::string_view operation,
                                         std::string_view path, std::stop_token stop,
                                         Arguments... arguments) {
  return *block_until<Start, Results...>(std::move(core), operation, path, std::move(stop),
                                         Deadline::never(), std::move(arguments)...);
}

namespace detail {

/// Throws the error of a blocking call that has ended, or returns its results.
template <typename... Results>
auto results_or_throw(const ClientCore& core, std::string_view operation, std::string_view path,
                      std::tuple<error_code, Results...> ended) {
  throw_if(core, std::get<0>(ended), operation, path);
  return std::apply(
      [](const error_code&, Results&... results) {
        if constexpr (sizeof...(Results) == 1) {
          return (std::move(results), ...);
        } else if constexpr (sizeof...(Results) > 1) {
          return std::tuple<Results...>{std::move(results)...};
        }
      },
      ended);
}

}  // namespace detail

/// Blocks as block() does, but returns only the results, and throws `Error` for `operation` and
/// `path` if there is an error. One result is returned by itself, several as a tuple.
template <auto Start, typename... Results, typename... Arguments>
auto block_or_throw(const CorePtr& core, std::string_view operation, std::string_view path,
                    std::stop_token stop, Arguments... arguments) {
  return detail::results_or_throw<Results...>(
      *core, operation, path,
      block<Start, Results...>(core, operation, path, std::move(stop), std::move(arguments)...));
}

/// The limit of a blocking call.
struct BlockingLimit {
  /// The deadline of the operation. A default one stands for the client's operation timeout.
  Deadline deadline;
  /// The error of a call that did not end because no thread ran the client's context. A write has
  /// `deadline_exceeded_outcome_unknown` here, since it may have been sent before.
  Errc unended = Errc::deadline_exceeded;
};

/// Blocks as block_until() does, and throws `limit.unended` instead of returning nothing.
template <auto Start, typename... Results, typename... Arguments>
std::tuple<error_code, Results...> block_in_time(const CorePtr& core, std::string_view operation,
                                                 std::string_view path, std::stop_token stop,
                                                 BlockingLimit limit, Arguments... arguments) {
  const Deadline end = detail::deadline_or_default(*core, limit.deadline);
  auto ended = block_until<Start, Results...>(core, operation, path, std::move(stop), end,
                                              std::move(arguments)...);
  if (!ended) detail::throw_unended(limit.unended, operation, path);
  return std::move(*ended);
}

/// block_or_throw() for an operation that has a deadline: the call ends even if no thread runs the
/// client's context.
template <auto Start, typename... Results, typename... Arguments>
auto block_in_time_or_throw(const CorePtr& core, std::string_view operation, std::string_view path,
                            std::stop_token stop, BlockingLimit limit, Arguments... arguments) {
  return detail::results_or_throw<Results...>(
      *core, operation, path,
      block_in_time<Start, Results...>(core, operation, path, std::move(stop), limit,
                                       std::move(arguments)...));
}

}  // namespace custodian
