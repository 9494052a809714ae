#pragma once

/// \file
/// bound_to_context() lets a wait end with the client's execution context: for authors of recipes.
///
/// Asio destroys its own handlers with the context. But the handler of a wait that only an event
/// ends is kept by a watch, or by the recipe: if the context is destroyed, a thread that blocks for
/// such a wait would sleep for ever.

#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <utility>

#include "custodian/authoring/spawn.hpp"
#include "custodian/client.hpp"

namespace custodian {

/// Wraps the handler of a wait that only an event or a reply ends. If the client's context is
/// destroyed, the handler is destroyed with it, uncalled, as Asio destroys its own handlers. That
/// wakes a thread that blocks for the handler. May be called from any thread; call the result on
/// the strand. Costs a timer, so bind what a user waits for, and not each step of a recipe.
template <typename... Results>
[[nodiscard]] Handler<Results...> bound_to_context(const CorePtr& core,
                                                   Handler<Results...> handler) {
  struct Bound {
    Bound(Handler<Results...> whole, const boost::asio::any_io_executor& strand)
        : handler{std::move(whole)}, keeper{strand, boost::asio::steady_timer::time_point::max()} {}
    Handler<Results...> handler;
    boost::asio::steady_timer keeper;
  };
  // In the child of a fork, the operation calls its handler at once, so there is no wait to end.
  if (detail::is_forked(*core)) return handler;
  const auto bound = std::make_shared<Bound>(std::move(handler), detail::strand_of(*core));
  // Only the context owns `bound`, by a wait that never ends by itself.
  bound->keeper.async_wait([bound](error_code) {});
  return [weak = std::weak_ptr{bound}](error_code error, Results... results) {
    const auto alive = weak.lock();
    if (!alive) return;
    alive->keeper.cancel();
    std::move(alive->handler)(error, std::move(results)...);
  };
}

/// The same, for the context of this client.
template <typename... Results>
[[nodiscard]] Handler<Results...> bound_to_context(const Client& client,
                                                   Handler<Results...> handler) {
  return bound_to_context(client.core(), std::move(handler));
}

}  // namespace custodian
