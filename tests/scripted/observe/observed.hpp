#pragma once

/// \file
/// Observed is a client whose observer keeps its events, a line each: "begun InterProcessMutex
/// /lock".

#include <boost/asio/post.hpp>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "custodian/observer.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

/// A time limit that passes in a test, but only after the steps before it, even on a busy machine.
inline constexpr std::chrono::milliseconds long_enough{200};

class Records final : public Observer {
 public:
  using Lines = std::vector<std::string>;

  Lines locks;
  Lines waits;  ///< and updates
  Lines retries;
  Lines states;
  std::vector<error_code> errors;  ///< the errors that were retried
  // The waiting time of the newest event that reports one.
  std::chrono::nanoseconds waited{-1};
  std::chrono::nanoseconds held_for{-1};
  std::chrono::nanoseconds away{-1};
  std::chrono::milliseconds pause{-1};
  FencingToken token;
  error_code error;  ///< the error of the newest acquire

  /// The acquires that have begun: recipe, path, time. Those that have not ended are open.
  using Begun = std::tuple<std::string, std::string, BootClock::time_point>;
  Lines begun;
  std::multiset<Begun> open;
  int unpaired = 0;  ///< ends without a begin

  void on_acquire_begun(const AcquireBegun& event) override {
    begun.push_back(std::string{event.recipe} + " " + std::string{event.path});
    open.emplace(event.recipe, event.path, event.began);
  }
  void on_acquire_ended(const AcquireEnded& event) override {
    const auto pair = open.find({std::string{event.recipe}, std::string{event.path}, event.began});
    if (pair == open.end()) {
      ++unpaired;
    } else {
      open.erase(pair);
    }
    waited = event.waited;
    error = event.error;
    std::string line = describe(to_string(event.outcome), event);
    if (event.leases > 1) line += " x" + std::to_string(event.leases);
    if (event.error) line += ": " + event.error.message();
    locks.push_back(line);
  }
  void on_lease_begun(const LeaseBegun& event) override {
    token = event.token;
    locks.push_back(describe("begun", event));
  }
  void on_lease_lost(const LeaseLost& event) override {
    token = event.token;
    held_for = event.held_for;
    locks.push_back(describe("lost", event) + ": " + std::string{to_string(event.reason)});
  }
  void on_lease_released(const LeaseReleased& event) override {
    token = event.token;
    held_for = event.held_for;
    const bool lost = event.loss != LossReason::none;
    locks.push_back(describe("released", event) +
                    (lost ? ": " + std::string{to_string(event.loss)} : std::string{}));
  }
  void on_lock_reused(const LockReused& event) override {
    token = event.token;
    locks.push_back(describe("reused", event) + " x" + std::to_string(event.times));
  }
  void on_kept_lock_ended(const KeptLockEnded& event) override {
    token = event.token;
    locks.push_back(describe("no longer kept:", event) + ": " +
                    std::string{to_string(event.reason)});
  }
  void on_wait_ended(const WaitEnded& event) override {
    waited = event.waited;
    waits.push_back(describe(to_string(event.outcome), event) + reason(event.error));
  }
  void on_update_ended(const UpdateEnded& event) override {
    const auto* const what = event.error ? "failed" : event.written ? "written" : "unchanged";
    std::string line = describe(what, event);
    if (event.tries > 0) line += " x" + std::to_string(event.tries);
    if (event.promoted) line += " promoted";
    waits.push_back(line + reason(event.error));
  }
  void on_operation_retried(const OperationRetried& event) override {
    pause = event.pause;
    errors.push_back(event.error);
    retries.push_back(std::string{event.operation} + " " + std::string{event.path} + " " +
                      std::to_string(event.attempts));
  }
  void on_connection_changed(const ConnectionChanged& event) override {
    away = event.away;
    states.emplace_back(to_string(event.state));
  }

 private:
  static std::string reason(const error_code& error) {
    return error ? ": " + error.message() : std::string{};
  }
  template <typename Event>
  static std::string describe(std::string_view what, const Event& event) {
    return std::string{what} + " " + std::string{event.recipe} + " " + std::string{event.path};
  }
};

/// The client "mine", which is observed, and the client "other", which is not.
class Observed {
 public:
  Observed() : Observed{[](ClientOptions&) {}} {}
  template <typename Change>
  explicit Observed(Change change) {
    ClientOptions options = world.options("mine");
    options.observer = records;
    change(options);
    mine = world.client(std::move(options));
    other = world.client("other");
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;
  ~Observed() {
    CHECK(world.run_until_idle(*mine));
    CHECK(world.end(mine));
    CHECK(world.end(other));
    // Each acquire that has begun has ended, once.
    CHECK(records->unpaired == 0);
    CHECK(records->open.empty());
  }

  /// Runs all that is due, and returns the events of locks since the last call.
  Records::Lines told() {
    world.settle();
    return std::exchange(records->locks, {});
  }
  /// Runs all that is due, and returns the acquires that have begun since the last call.
  Records::Lines begun() {
    world.settle();
    return std::exchange(records->begun, {});
  }
  Records::Lines retries() {
    world.settle();
    return std::exchange(records->retries, {});
  }
  Records::Lines states() {
    world.settle();
    return std::exchange(records->states, {});
  }
  template <typename Lock>
  Lease acquire(Lock& lock) {
    auto acquired = run<Lease>(world, [&](auto done) { lock.async_acquire(done); });
    REQUIRE(acquired.arrived());
    REQUIRE_FALSE(acquired.error());
    return std::move(acquired.result());
  }
  /// Closes the client "mine" in a handler of the context: elsewhere close() would wait for a
  /// context that no thread runs.
  void close() {
    boost::asio::post(world.context, [this] { mine->close(); });
    world.settle();
  }
  void fail_at(Faults faults) {
    world.ensemble.set_fault_plan(std::make_shared<FaultsAt>("mine", std::move(faults)));
  }

  World world;
  std::shared_ptr<Records> records = std::make_shared<Records>();
  std::unique_ptr<Client> mine;
  std::unique_ptr<Client> other;
};

}  // namespace custodian::tests
