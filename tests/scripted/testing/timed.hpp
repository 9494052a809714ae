#pragma once

/// \file
/// Timed is a lease holder and another client, on a clock that the test moves.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::timed {

inline constexpr auto lock_path = "/lock";
/// The timeout of all sessions here; other options have the library's defaults.
inline constexpr auto timeout = std::chrono::seconds{10};
/// How long a lease lasts after the latest reply that proved the session alive.
inline constexpr auto clock_of_a_lease = std::chrono::seconds{9};

/// A holder and another client, on one clock.
struct Timed {
  explicit Timed(LeaseOptions terms = {},
                 std::chrono::milliseconds patience = std::chrono::seconds{20})
      : clock{std::make_shared<testing::FakeClock>(patience)}, world{clock} {
    client = world.client(options("holder"));
    mutex.emplace(*client, lock_path, LockOptions{.lease = terms});
    other = world.client(options("other"));
    others_mutex.emplace(*other, lock_path);
  }
  ClientOptions options(const std::string& name) {
    ClientOptions options = world.options(name);
    options.session_timeout = timeout;
    return options;
  }
  Lease acquire() {
    auto acquired = run<Lease>(world, [&](auto done) { mutex->async_acquire(done); });
    REQUIRE(acquired.arrived());
    REQUIRE_FALSE(acquired.error());
    return std::move(acquired.result());
  }
  /// Makes another client queue for the lock. Returns a place for the time of the grant, which is
  /// empty until then.
  std::shared_ptr<std::optional<BootClock::time_point>> other_queues() {
    auto granted = std::make_shared<std::optional<BootClock::time_point>>();
    bool waits = false;
    AcquireOptions patient;
    patient.on_position = [&waits](auto&&...) { waits = true; };
    others_mutex->async_acquire(patient, [this, granted](error_code error, Lease lease) {
      if (error) return;
      *granted = clock->now();
      others_lease = std::move(lease);
    });
    REQUIRE(world.run_until([&] { return waits || *granted; }));
    return granted;
  }
  void advance(std::chrono::nanoseconds time) { clock->advance(time, world.context); }
  /// Moves the clock until the condition is true. Real time passes, too: attempts are repeated in
  /// real time, and after a standstill of all processes a lease needs several attempts.
  bool pass_until(const std::function<bool()>& condition) {
    for (const Deadline end{World::limit}; !condition();) {
      if (end.passed()) return false;
      advance(std::chrono::seconds{1});
      world.context.run_for(std::chrono::milliseconds{2});
    }
    return true;
  }
  /// Releases the lease, and checks that no client leaves anything behind.
  void end() {
    others_lease.release();
    mutex.reset();
    others_mutex.reset();
    CHECK(world.end(client));
    CHECK(world.end(other));
    CHECK(world.ensemble.children(lock_path).empty());
  }

  std::shared_ptr<testing::FakeClock> clock;
  World world;
  std::unique_ptr<Client> client;
  std::unique_ptr<Client> other;
  std::optional<InterProcessMutex> mutex;
  std::optional<InterProcessMutex> others_mutex;
  Lease others_lease;
};

}  // namespace custodian::tests::timed
