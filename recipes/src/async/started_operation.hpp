#pragma once

/// \file
/// StartedOperation is an operation that is under way while its coroutine does something else. Used
/// on the strand only.

#include <memory>
#include <optional>
#include <tuple>

#include "custodian/authoring/bridge.hpp"
#include "custodian/authoring/event.hpp"

namespace custodian::recipes_detail {

template <typename... Results>
class StartedOperation {
 public:
  /// Starts `Start(core, cancellation, arguments..., handler)` now.
  template <auto Start, typename... Arguments>
  static StartedOperation start(const boost::asio::any_io_executor& strand, CorePtr core,
                                CancellationPtr cancellation, Arguments... arguments) {
    StartedOperation started{std::make_shared<State>(strand)};
    Handler<Results...> handler{[state = started.state_](error_code error, Results... results) {
      state->outcome.emplace(error, std::move(results)...);
      state->arrived.notify_all();
    }};
    Start(std::move(core), std::move(cancellation), std::move(arguments)..., std::move(handler));
    return started;
  }

  /// Waits for the operation's end. Call it once.
  boost::asio::awaitable<std::tuple<error_code, Results...>> get() {
    const auto state = state_;
    const CancellationPtr none;
    if (!state->outcome) co_await state->arrived.wait(state->strand, Deadline::never(), none);
    co_return std::move(*state->outcome);
  }

 private:
  struct State {
    explicit State(boost::asio::any_io_executor on) : strand{std::move(on)} {}
    const boost::asio::any_io_executor strand;
    AsyncEvent arrived{};
    std::optional<std::tuple<error_code, Results...>> outcome{};
  };

  explicit StartedOperation(std::shared_ptr<State> state) : state_{std::move(state)} {}

  std::shared_ptr<State> state_;
};

}  // namespace custodian::recipes_detail
