#pragma once

/// \file
/// An operation that is under way while its coroutine does something else. For the strand only.

#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <tuple>

#include "custodian/authoring/bridge.hpp"

namespace custodian::recipes_detail {

template <typename... Results>
class StartedOperation {
 public:
  /// Starts `Start(core, cancellation, arguments..., handler)` now.
  template <auto Start, typename... Arguments>
  static StartedOperation start(const boost::asio::any_io_executor& strand,
                                std::shared_ptr<detail::ClientCore> core,
                                CancellationPtr cancellation, Arguments... arguments) {
    StartedOperation started{std::make_shared<State>(strand)};
    Handler<Results...> handler{[state = started.state_](error_code error, Results... results) {
      state->outcome.emplace(error, std::move(results)...);
      state->arrived.cancel();
    }};
    Start(std::move(core), std::move(cancellation), std::move(arguments)..., std::move(handler));
    return started;
  }

  /// Waits for its end. Once.
  boost::asio::awaitable<std::tuple<error_code, Results...>> get() {
    const auto state = state_;
    if (!state->outcome) {
      co_await state->arrived.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    co_return std::move(*state->outcome);
  }

 private:
  struct State {
    explicit State(const boost::asio::any_io_executor& strand)
        : arrived{strand, std::chrono::steady_clock::time_point::max()} {}
    boost::asio::steady_timer arrived;
    std::optional<std::tuple<error_code, Results...>> outcome;
  };

  explicit StartedOperation(std::shared_ptr<State> state) : state_{std::move(state)} {}

  std::shared_ptr<State> state_;
};

}  // namespace custodian::recipes_detail
