#pragma once

/// \file
/// InterProcessBarrier lets a number of processes wait for each other, phase after phase. The
/// functions are those of std::barrier, except `arrive` and `arrive_and_drop`, and there is no
/// completion function. Neither Curator nor kazoo has such a barrier.
///
/// When not to use it: to begin and end together (DistributedDoubleBarrier, which Curator and kazoo
/// understand); if an arrival must count even if its process dies (CountDownLatch); for phases of
/// more than some hundreds.
///
/// A phase ends when exactly as many arrivals as the barrier expects are there at one moment: one
/// transaction removes their nodes and writes their names into the barrier's data, whose version is
/// the phase's number. If there are more arrivals, some of them wait for the next phase. So nobody
/// passes alone, and no arrival counts twice. A process that dies while it waits is not counted
/// once its session has ended. A process that is started again arrives at the phase that is then
/// under way.
///
/// A waiter costs the servers one watch, and the end of a phase notifies each waiter once.
///
/// All clients of a barrier must expect the same number. The barrier's node stays when nobody uses
/// it any more; it is removed by `client.remove(path)`. Nothing else may be created below it.
///
/// Threads: any; several threads may arrive by one object. Lifetimes: a handle, which may be
/// copied; the client may be destroyed first (operations then fail with closed); an operation under
/// way may outlive it.

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/deadline.hpp"
#include "custodian/export.hpp"

namespace custodian {

namespace recipes_detail {

struct Phases;
using PhasesPtr = std::shared_ptr<const Phases>;

CUSTODIAN_EXPORT void start_arrive_and_wait_at_barrier(CorePtr core, CancellationPtr cancellation,
                                                       PhasesPtr phases, Handler<> handler);
CUSTODIAN_EXPORT void start_timed_arrival_at_barrier(CorePtr core, CancellationPtr cancellation,
                                                     PhasesPtr phases, Deadline until,
                                                     Handler<bool> handler);

}  // namespace recipes_detail

/// Lets a number of processes wait for each other, phase after phase.
/// \copydetails custodian/barriers/inter_process_barrier.hpp
class CUSTODIAN_EXPORT InterProcessBarrier {
 public:
  /// The greatest number of arrivals that a phase may have.
  [[nodiscard]] static constexpr std::int32_t max() noexcept { return 1'000; }

  /// A phase ends with `expected` arrivals. Throws Error (invalid_argument) if the path is not
  /// valid, or the root; if the number is not positive, or greater than max(), or so great that a
  /// transaction of a phase is larger than the servers accept. Contacts no server.
  InterProcessBarrier(const Client& client, std::string path, std::int32_t expected);

  /// The path of the barrier's node.
  [[nodiscard]] const std::string& path() const noexcept;
  /// How many arrivals end a phase.
  [[nodiscard]] std::int32_t expected() const noexcept;

  /// \name Arriving
  /// Errors, for all: session_lost (the session has ended, and later phases have displaced the
  /// names of this one, since the barrier keeps those of some 300 arrivals and of two phases at
  /// least: this arrival may have been counted), node_deleted (another client has deleted the
  /// arrival's node, or the barrier's: the arrival may have been counted shortly before), no_auth,
  /// and those common to all operations of a Client. After any other error the arrival is not
  /// counted, unless the servers could not be asked (deadline_exceeded_outcome_unknown,
  /// connection_loss): then the phase that is under way may count it until its node is gone, at the
  /// end of its session at the latest.
  /// \{

  /// Arrives, and waits without limit until the phase is over, through disconnections and lost
  /// sessions.
  /// Completes with: error.
  /// Cancellation: total; the arrival is taken back, which takes twice
  /// `ClientOptions::operation_timeout` at most. If the phase is over by then, there is no error.
  /// Errors: see above.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_arrive_and_wait(Token&& token) {
    return initiate<void(error_code), &recipes_detail::start_arrive_and_wait_at_barrier>(
        core_, std::forward<Token>(token), phases_);
  }
  /// The same, blocking. Throws Error; `stop` ends it with operation_aborted, unless the phase is
  /// over by then.
  void arrive_and_wait(std::stop_token stop = {});

  /// The same until a deadline, or without limit if the deadline is a default one. At the deadline
  /// the arrival is taken back, as by a cancellation. If the deadline has passed already, the call
  /// completes with false, and sends nothing.
  /// Completes with: error, whether the phase was over in time.
  /// Cancellation: total; as above.
  /// Errors: see above. deadline_exceeded_outcome_unknown: the servers could not be asked to take
  /// the arrival back.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_arrive_and_wait_until(Deadline until, Token&& token) {
    return initiate<void(error_code, bool), &recipes_detail::start_timed_arrival_at_barrier>(
        core_, std::forward<Token>(token), phases_, until);
  }
  /// The same with a duration.
  template <typename Token>
  auto async_arrive_and_wait_for(std::chrono::nanoseconds time, Token&& token) {
    return async_arrive_and_wait_until(Deadline{time}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error; `stop` ends it with operation_aborted, unless the phase is
  /// over by then. If no thread runs the client's context, the call throws
  /// deadline_exceeded_outcome_unknown, twice `ClientOptions::operation_timeout` and a tenth of a
  /// second after the deadline (or after the call, if the deadline has passed already).
  [[nodiscard]] bool arrive_and_wait_until(Deadline until, std::stop_token stop = {});
  /// The same with a duration.
  [[nodiscard]] bool arrive_and_wait_for(std::chrono::nanoseconds time, std::stop_token stop = {}) {
    return arrive_and_wait_until(Deadline{time}, std::move(stop));
  }
  /// \}

 private:
  CorePtr core_;
  recipes_detail::PhasesPtr phases_;
};

}  // namespace custodian
