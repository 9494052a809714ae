#pragma once

/// \file
/// Candidate is the common part of LeaderLatch and LeaderSelector: a place in an election, and a
/// look at the other candidates.
///
/// Threads: any. Lifetimes: the client may be destroyed first.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/export.hpp"
#include "custodian/leader/leadership.hpp"
#include "custodian/locks/acquire.hpp"

namespace custodian {

namespace recipes_detail {
struct LockSpec;
using LockSpecPtr = std::shared_ptr<const LockSpec>;

CUSTODIAN_EXPORT void start_participants(CorePtr core, CancellationPtr cancellation,
                                         LockSpecPtr spec, OperationOptions options,
                                         Handler<std::vector<Participant>> handler);
CUSTODIAN_EXPORT void start_leader(CorePtr core, CancellationPtr cancellation, LockSpecPtr spec,
                                   OperationOptions options,
                                   Handler<std::optional<Participant>> handler);
}  // namespace recipes_detail

/// A place in an election. Made by LeaderLatch or LeaderSelector only.
/// \copydetails custodian/leader/candidate.hpp
class CUSTODIAN_EXPORT Candidate {
 public:
  Candidate(const Candidate&) = delete;
  Candidate& operator=(const Candidate&) = delete;

  /// The path of the election.
  [[nodiscard]] const std::string& path() const noexcept;
  /// The identity that others see: `CandidateOptions::id`, or the client's identity.
  [[nodiscard]] const std::string& id() const noexcept;

  /// Reads who leads: nobody if there is no candidate. The answer may be out of date when it
  /// arrives.
  /// Completes with: error, the leader or nothing.
  /// Cancellation: total.
  /// Errors: no_auth, deadline_exceeded, operation_aborted, and those common to all operations.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_leader(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, std::optional<Participant>), &recipes_detail::start_leader>(
        core_, std::forward<Token>(token), spec_, options);
  }
  /// The blocking form of async_leader(). Throws Error.
  [[nodiscard]] std::optional<Participant> leader(OperationOptions options = {}) const;

  /// Lists the candidates in order, the leader first. All else is as for async_leader().
  template <typename Token>
  auto async_participants(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, std::vector<Participant>),
                    &recipes_detail::start_participants>(core_, std::forward<Token>(token), spec_,
                                                         options);
  }
  /// The blocking form of async_participants(). Throws Error.
  [[nodiscard]] std::vector<Participant> participants(OperationOptions options = {}) const;

 protected:
  /// Called by LeaderLatch and LeaderSelector.
  explicit Candidate(recipes_detail::LockSpecPtr spec);
  ~Candidate();

  /// The core of the client.
  [[nodiscard]] const CorePtr& core() const noexcept { return core_; }
  /// A handle that does not own the client.
  [[nodiscard]] const Client& client() const noexcept;

 private:
  CorePtr core_;
  recipes_detail::LockSpecPtr spec_;
};

}  // namespace custodian
