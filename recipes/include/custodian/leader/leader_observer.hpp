#pragma once

/// \file
/// LeaderObserver watches an election without taking part in it.
///
/// The election may be one of LeaderLatch, LeaderSelector, Apache Curator or kazoo. The first
/// candidate in the queue counts as the leader from the moment that it is first. That may be a
/// round trip before the candidate learns that it leads.
///
/// When not to use it: to decide whether the program itself may do something (use LeaderLatch): the
/// answer may be out of date when it arrives.
///
/// The observer watches the leader's node, not the queue: so it is woken when the leadership
/// changes, and not when candidates come. A leader that changes its identity
/// (Lease::set_identity()) is reported again. Nothing but one election may use the path: nodes of
/// other recipes would count as candidates. Leaders and identities that follow each other quickly
/// may be skipped. An earlier leader is never reported after a later one, even if the server lags
/// behind.
///
/// Threads: any; one call of next() at a time. Lifetimes: the client may be destroyed first (calls
/// then fail with closed).

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/export.hpp"
#include "custodian/locks/acquire.hpp"

namespace custodian {

namespace recipes_detail {
class Observed;
using ObservedPtr = std::shared_ptr<Observed>;

CUSTODIAN_EXPORT void start_observe(CorePtr core, CancellationPtr cancellation,
                                    ObservedPtr observed, OperationOptions options,
                                    Handler<std::optional<Participant>> handler);
CUSTODIAN_EXPORT void start_next_leader(CorePtr core, CancellationPtr cancellation,
                                        ObservedPtr observed,
                                        Handler<std::optional<Participant>> handler);
}  // namespace recipes_detail

/// Reports the leaders of an election to a program that takes no part in it.
/// \copydetails custodian/leader/leader_observer.hpp
class CUSTODIAN_EXPORT LeaderObserver {
 public:
  /// Throws Error (invalid_argument) if `path` is not a valid path. Contacts no server. The path
  /// need not exist yet.
  LeaderObserver(const Client& client, std::string path);

  /// Reads who leads: nobody if there is no candidate.
  /// Completes with: error, the leader or nothing.
  /// Cancellation: total.
  /// Errors: no_auth, malformed_contender, deadline_exceeded, operation_aborted, and those common
  /// to all operations.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_leader(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, std::optional<Participant>), &recipes_detail::start_observe>(
        core_, std::forward<Token>(token), observed_, options);
  }
  /// The blocking form of async_leader(). Throws Error.
  [[nodiscard]] std::optional<Participant> leader(OperationOptions options = {}) const;

  /// Gets the next item of the stream of leaders. The first call completes with the present leader;
  /// each later call waits for a change: another leader, no leader, or the same leader with another
  /// identity. Waits through disconnections and lost sessions.
  /// Completes with: error, the leader or nothing.
  /// Cancellation: total; a later call continues the stream.
  /// Errors: no_auth, malformed_contender (a candidate without a number), closed,
  /// operation_aborted; invalid_argument if another call is waiting.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_next(Token&& token) {
    return initiate<void(error_code, std::optional<Participant>),
                    &recipes_detail::start_next_leader>(core_, std::forward<Token>(token),
                                                        observed_);
  }
  /// The blocking form of async_next(). Throws Error; `stop` ends it with operation_aborted.
  [[nodiscard]] std::optional<Participant> next(std::stop_token stop = {});

 private:
  CorePtr core_;
  recipes_detail::ObservedPtr observed_;
};

}  // namespace custodian
