#pragma once

/// \file
/// LeaderSelector runs a function while it leads, and lets others lead when the function has
/// returned. It is Apache Curator's LeaderSelector, and compatible with it on the wire.
///
/// The candidates queue as for an InterProcessMutex at the same path. The function of the first
/// candidate is called with the leadership, a Lease, and a stop_token. A stop is requested when the
/// leadership is lost or interrupted, and when the selector is closed; the function should then
/// return soon. The leadership passes on when the function has returned. A leadership that is lost,
/// or whose `hold_at_most` is over, passes on without waiting for the function.
///
/// When not to use it: to lead for as long as possible without a function to run (LeaderLatch); for
/// work that must never be done twice, unless the resource that it changes checks the fencing
/// token.
///
/// Threads: any. Lifetimes: the client may be destroyed first; the selector is then closed.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <concepts>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/export.hpp"
#include "custodian/leader/candidate.hpp"
#include "custodian/leader/leadership.hpp"
#include "custodian/lease/lease.hpp"

namespace custodian {

/// The options of a selector.
struct LeaderSelectorOptions {
  /// The options of the candidate: its identity, and the terms of its leadership.
  CandidateOptions candidate{};
  /// When a selector stands for election again.
  enum class Requeue : std::uint8_t {
    /// The function runs once for start(), and once for each requeue(). A leadership that is lost
    /// before the function has begun does not count.
    by_request,
    always,  ///< the selector stands again whenever the function has returned
  };
  /// When the selector stands for election again.
  Requeue requeue = Requeue::by_request;
  /// The executor on which the function runs. Default: a thread of its own for a function that
  /// returns void, the client's callback executor for a coroutine.
  std::optional<boost::asio::any_io_executor> executor{};
  /// Called on the callback executor with an exception that the function has thrown, or that the
  /// executor has thrown instead of running it. The exception is logged, too. The leadership has
  /// been released, as if the function had returned. The callback may run after the selector's
  /// destruction.
  std::function<void(std::exception_ptr)> on_exception{};
};

namespace recipes_detail {
class Candidacy;
using CandidacyPtr = std::shared_ptr<Candidacy>;
class Selector;
using SelectorPtr = std::shared_ptr<Selector>;

/// One turn of the function. Destroying this object ends the turn, too, since the executor's
/// context may be destroyed before the function begins.
class CUSTODIAN_EXPORT LeaderTurn {
 public:
  LeaderTurn(SelectorPtr selector, Lease leadership);
  LeaderTurn(const LeaderTurn&) = delete;
  LeaderTurn& operator=(const LeaderTurn&) = delete;
  ~LeaderTurn();

  /// Called on the function's executor, just before the function: returns whether the function may
  /// run.
  [[nodiscard]] bool begin();
  /// Ends the turn: releases the leadership, and reports the function's exception, unless it is
  /// null. A second call does nothing.
  void end(std::exception_ptr thrown) noexcept;

  [[nodiscard]] const Lease& leadership() const noexcept { return leadership_; }
  [[nodiscard]] std::stop_token stop() const noexcept { return stop_.get_token(); }
  [[nodiscard]] const std::stop_source& stop_source() const noexcept { return stop_; }

 private:
  SelectorPtr selector_;
  Lease leadership_;
  std::stop_source stop_;
  std::optional<std::stop_callback<std::function<void()>>> on_loss_;
};

/// Runs the function on the executor, for this turn.
using LeaderFunction =
    std::function<void(boost::asio::any_io_executor executor, std::shared_ptr<LeaderTurn> turn)>;
enum class LeaderFunctionKind : std::uint8_t { blocking, coroutine };

CUSTODIAN_EXPORT void start_join(CorePtr core, CancellationPtr cancellation, SelectorPtr selector,
                                 Handler<> handler);

template <typename Function>
concept BlockingLeader =
    std::copy_constructible<Function> && std::invocable<Function&, const Lease&, std::stop_token> &&
    std::is_void_v<std::invoke_result_t<Function&, const Lease&, std::stop_token>>;
template <typename Function>
concept CoroutineLeader =
    std::copy_constructible<Function> && std::invocable<Function&, Lease, std::stop_token> &&
    std::same_as<std::invoke_result_t<Function&, Lease, std::stop_token>,
                 boost::asio::awaitable<void>>;

template <typename Function>
inline constexpr LeaderFunctionKind kind_of =
    CoroutineLeader<Function> ? LeaderFunctionKind::coroutine : LeaderFunctionKind::blocking;
template <typename Function>
[[nodiscard]] LeaderFunction leader_function(Function function);
}  // namespace recipes_detail

/// Runs a function while it leads.
/// \copydetails custodian/leader/leader_selector.hpp
class CUSTODIAN_EXPORT LeaderSelector : public Candidate {
 public:
  /// `function` is `void(const Lease& leadership, std::stop_token stop)`, which may block, or a
  /// coroutine, `asio::awaitable<void>(Lease leadership, std::stop_token stop)`. The leadership is
  /// released when the function has returned and no lease that it shared is left.
  ///
  /// Throws Error (invalid_argument) if `path` is not a valid path. Contacts no server.
  template <typename Function>
  LeaderSelector(const Client& client, std::string path, Function function,
                 LeaderSelectorOptions options = {})
      : LeaderSelector{client, std::move(path), recipes_detail::kind_of<Function>,
                       recipes_detail::leader_function(std::move(function)), std::move(options)} {}

  /// Closes the selector. Waits, as std::jthread's destructor does, until a function that may block
  /// has returned: that function must not destroy the selector. Does not wait for a coroutine: call
  /// `async_join()` first if the coroutine uses objects that are destroyed next.
  ~LeaderSelector();

  /// Stands for election; returns at once. Throws Error: invalid_argument if the selector was
  /// started before, closed if the selector or its client was closed, forked.
  void start();
  /// Stands for election once more when the present turn is over. Returns false if that was already
  /// requested, or if the selector is closed. Throws Error (invalid_argument) if start() was not
  /// called.
  bool requeue();
  /// Asks the function to stop, if it is running; returns whether it was. This does not change
  /// whether the selector stands again afterwards.
  bool interrupt_leadership();
  /// Gives up the candidacy for good, and asks the function to stop, if it is running; returns at
  /// once. A second call does nothing.
  void close();

  /// Waits until the selector is closed and the function is not running.
  /// Completes with: error.
  /// Cancellation: total.
  /// Errors: operation_aborted, forked.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_join(Token&& token) const {
    return initiate<void(error_code), &recipes_detail::start_join>(
        core(), std::forward<Token>(token), selector_);
  }
  /// The blocking form of async_join(). Throws Error; would_deadlock on a thread that runs the
  /// client.
  void join(std::stop_token stop = {}) const;

  /// Whether the function is running, and the leadership is not lost.
  [[nodiscard]] bool has_leadership() const;

 private:
  LeaderSelector(const Client& client, std::string path, recipes_detail::LeaderFunctionKind kind,
                 recipes_detail::LeaderFunction function, LeaderSelectorOptions options);

  LeaderSelector(recipes_detail::CandidacyPtr candidacy, recipes_detail::LeaderFunctionKind kind,
                 recipes_detail::LeaderFunction function, LeaderSelectorOptions options);

  recipes_detail::LeaderFunctionKind kind_;
  /// The thread of a function that may block, unless the options name an executor.
  std::unique_ptr<boost::asio::thread_pool> thread_;
  recipes_detail::SelectorPtr selector_;
};

namespace recipes_detail {

template <BlockingLeader Function>
LeaderFunction blocking_function(Function function) {
  return [function = std::move(function)](const boost::asio::any_io_executor& executor,
                                          std::shared_ptr<LeaderTurn> turn) mutable {
    // The turn keeps the selector alive, and the selector keeps the function alive.
    boost::asio::post(executor, [&function, turn = std::move(turn)] {
      std::exception_ptr thrown;
      try {
        if (turn->begin()) function(turn->leadership(), turn->stop());
      } catch (...) {
        thrown = std::current_exception();
      }
      turn->end(std::move(thrown));
    });
  };
}

template <typename Function>
boost::asio::awaitable<void> lead(Function* function, std::shared_ptr<LeaderTurn> turn) {
  if (!turn->begin()) co_return;
  Lease leadership = turn->leadership().share();
  std::stop_token stop = turn->stop();
  co_await (*function)(std::move(leadership), std::move(stop));
}

template <CoroutineLeader Function>
LeaderFunction coroutine_function(Function function) {
  return [function = std::move(function)](const boost::asio::any_io_executor& executor,
                                          const std::shared_ptr<LeaderTurn>& turn) mutable {
    // Without this post(), the coroutine would begin on the client's strand if the executor and the
    // client share a context.
    boost::asio::post(executor, [executor, &function, turn] {
      boost::asio::co_spawn(executor, lead(&function, turn),
                            [turn](std::exception_ptr thrown) { turn->end(std::move(thrown)); });
    });
  };
}

template <typename Function>
LeaderFunction leader_function(Function function) {
  static_assert(
      BlockingLeader<Function> || CoroutineLeader<Function>,
      "a LeaderSelector's function is void(const Lease& leadership, std::stop_token stop), "
      "or a coroutine, asio::awaitable<void>(Lease leadership, std::stop_token stop); it "
      "can be copied");
  if constexpr (CoroutineLeader<Function>) {
    return coroutine_function(std::move(function));
  } else if constexpr (BlockingLeader<Function>) {
    return blocking_function(std::move(function));
  } else {
    return {};
  }
}

}  // namespace recipes_detail

}  // namespace custodian
