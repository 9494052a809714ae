#pragma once

/// \file
/// DeadlockScene is two clients, "one" and "two", that each hold a lock below /locks, and may then
/// wait for the lock of the other.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "custodian/inspect/detect_deadlock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

/// The pause between two looks: long enough for the requests of a look, and short enough for many
/// looks in a case.
inline constexpr std::chrono::milliseconds between_looks{3};

[[nodiscard]] inline error_code deadlock_error() {
  return make_error_code(boost::system::errc::resource_deadlock_would_occur);
}

/// A client, and its locks at /locks/x and /locks/y.
class Party {
 public:
  Party(World& world, ClientOptions options, LockOptions of_locks = {})
      : world_{world}, client{world.client(std::move(options))} {
    x.emplace(*client, "/locks/x", of_locks);
    y.emplace(*client, "/locks/y", of_locks);
  }
  Party(World& world, const std::string& name) : Party{world, world.options(name)} {}

  Lease acquire(InterProcessMutex& lock) {
    auto place = run<Lease>(world_, [&](auto done) { lock.async_acquire(done); });
    REQUIRE(place.arrived());
    REQUIRE_FALSE(place.error());
    return std::move(place.result());
  }
  /// Begins an acquire, and returns when its node is in the queue behind that of the holder.
  Outcome<AcquireResult> wait(InterProcessMutex& lock, AcquireOptions options = {}) {
    Outcome<AcquireResult> place;
    const std::size_t before = world_.ensemble.children(lock.path()).size();
    lock.async_try_acquire_until(
        Deadline::never(), std::move(options),
        boost::asio::bind_cancellation_slot(give_up.slot(), place.handler()));
    REQUIRE(world_.run_until(
        [&] { return place.arrived() || world_.ensemble.children(lock.path()).size() > before; }));
    return place;
  }
  /// Ends the client, and returns what is left of it; empty if there is nothing.
  std::string end() {
    std::string left;
    if (!world_.run_until_idle(*client)) left += " operations or watches are left";
    x.reset();
    y.reset();
    if (!world_.end(client)) left += " something keeps the client alive";
    return left;
  }

 private:
  World& world_;

 public:
  std::unique_ptr<Client> client;
  std::optional<InterProcessMutex> x{};
  std::optional<InterProcessMutex> y{};
  boost::asio::cancellation_signal give_up{};
};

/// The options of an acquire that looks often.
[[nodiscard]] inline AcquireOptions looking(DeadlockOptions options = {}) {
  if (options.below == "/") options.below = "/locks";
  if (!options.look_every) options.look_every = between_looks;
  return {.detect_deadlock = detect_deadlock(std::move(options))};
}

/// Counts the looks of the client "one": its listings of the node at which each look begins.
class LookCounter final : public testing::FaultPlan {
 public:
  testing::Fault on_submit(const Submission& submission) override {
    if (submission.client != "one") return {};
    if (submission.kind == "children" && submission.path == "/locks") {
      ++looks;
      if (on_look) on_look(looks);
    }
    return {};
  }
  std::size_t looks = 0;
  std::function<void(std::size_t look)> on_look{};
};

}  // namespace custodian::tests
