#pragma once

/// \file
/// spawn() lets an initiating function run a coroutine on the client's strand, and calls the
/// handler with its result: for authors of recipes. Every coroutine of this library on the client's
/// strand is started by spawn().
///
/// \code
/// void start_next(CorePtr core, CancellationPtr cancellation, StatePtr state, Handler<T> handler)
/// {
///   spawn(core, "observing " + state->path, next(state, cancellation), std::move(handler));
/// }
/// \endcode
///
/// Coroutines take their arguments by value, since nothing else keeps the arguments alive.

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>

#include "custodian/authoring/bridge.hpp"
#include "custodian/authoring/result.hpp"
#include "custodian/error.hpp"
#include "custodian/export.hpp"

namespace custodian {

/// Runs a coroutine on the client's strand; no caller waits for its end. Any thread. A coroutine
/// that ends by an exception (memory ran out, an executor of the user threw) has not done its work:
/// then the log names `what`, and `on_failure` is called on the strand.
CUSTODIAN_EXPORT void spawn(const CorePtr& core, std::string_view what,
                            boost::asio::awaitable<void> coroutine,
                            std::function<void(error_code)> on_failure = {});

namespace detail {

[[nodiscard]] CUSTODIAN_EXPORT bool is_forked(const ClientCore& core) noexcept;

/// Calls a handler with the result of a coroutine.
template <typename T>
struct Completion {
  using HandlerOfIt = Handler<T>;
  static void fail(HandlerOfIt handler, error_code error) { std::move(handler)(error, T{}); }
  static void complete(HandlerOfIt handler, Result<T> ended) {
    if (!ended) return fail(std::move(handler), ended.error());
    std::move(handler)(error_code{}, std::move(*ended));
  }
};

template <>
struct Completion<void> {
  using HandlerOfIt = Handler<>;
  static void fail(HandlerOfIt handler, error_code error) { std::move(handler)(error); }
  static void complete(HandlerOfIt handler, const Result<void>& ended) {
    std::move(handler)(ended ? error_code{} : ended.error());
  }
};

template <typename... Parts>
struct Completion<std::tuple<Parts...>> {
  using HandlerOfIt = Handler<Parts...>;
  static void fail(HandlerOfIt handler, error_code error) { std::move(handler)(error, Parts{}...); }
  static void complete(HandlerOfIt handler, Result<std::tuple<Parts...>> ended) {
    if (!ended) return fail(std::move(handler), ended.error());
    std::apply([&](Parts&... parts) { std::move(handler)(error_code{}, std::move(parts)...); },
               *ended);
  }
};

template <typename T>
boost::asio::awaitable<void> complete_with(
    boost::asio::awaitable<Result<T>> coroutine,
    std::shared_ptr<typename Completion<T>::HandlerOfIt> handler) {
  Result<T> ended = co_await std::move(coroutine);
  Completion<T>::complete(std::move(*handler), std::move(ended));
}

}  // namespace detail

/// Runs a coroutine on the client's strand, and calls the handler there with its result: an error
/// and default values, or no error and the value; a tuple becomes several arguments. Any thread.
/// The coroutine's objects are destroyed before the handler is called. A coroutine that ends by an
/// exception completes with not_enough_memory or state_not_recoverable. In the child of a fork,
/// nothing runs, and the handler is called at once, with `Errc::forked`.
template <typename T>
void spawn(const CorePtr& core, std::string_view what, boost::asio::awaitable<Result<T>> coroutine,
           typename detail::Completion<T>::HandlerOfIt handler) {
  using Completion = detail::Completion<T>;
  if (detail::is_forked(*core)) return Completion::fail(std::move(handler), Errc::forked);
  const auto ending = std::make_shared<typename Completion::HandlerOfIt>(std::move(handler));
  spawn(core, what, detail::complete_with<T>(std::move(coroutine), ending),
        [ending](error_code error) {
          if (*ending) Completion::fail(std::move(*ending), error);
        });
}

}  // namespace custodian
