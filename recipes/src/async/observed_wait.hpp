#pragma once

/// \file
/// observed_wait() reports the end of a wait for other processes to the client's observer.

#include <boost/asio/error.hpp>
#include <string_view>
#include <utility>

#include "custodian/authoring/bridge.hpp"
#include "custodian/authoring/observed_lock.hpp"

namespace custodian::recipes_detail {

/// The outcome of a wait that has ended without an error, by its result.
struct OutcomeOfWait {
  constexpr WaitOutcome operator()() const noexcept { return WaitOutcome::passed; }
  constexpr WaitOutcome operator()(bool in_time) const noexcept {
    return in_time ? WaitOutcome::passed : WaitOutcome::late;
  }
};

[[nodiscard]] inline WaitOutcome outcome_of_error(const error_code& error) noexcept {
  const bool is_cancelled = error == boost::asio::error::operation_aborted || error == Errc::closed;
  return is_cancelled ? WaitOutcome::cancelled : WaitOutcome::failed;
}

/// Wraps the handler of a wait that begins now. `outcome_of` makes the outcome of the results of a
/// wait that ended without an error. Without an observer the handler is returned as it is.
template <typename... Results, typename OutcomeOf = OutcomeOfWait>
[[nodiscard]] Handler<Results...> observed_wait(const CorePtr& core, std::string_view recipe,
                                                std::string_view path, Handler<Results...> handler,
                                                OutcomeOf outcome_of = {}) {
  ObservedLockPtr wait = make_observed(core, recipe, path);
  if (!wait) return handler;
  return [core, wait = std::move(wait), since = now_of(core), handler = std::move(handler),
          outcome_of](error_code error, Results... results) mutable {
    const WaitOutcome outcome = error ? outcome_of_error(error) : outcome_of(results...);
    tell_wait_ended(core, wait, outcome, error, since);
    std::move(handler)(error, std::move(results)...);
  };
}

}  // namespace custodian::recipes_detail
