#pragma once

/// \file
/// Held is a lease on a short session of a fake ensemble. The client's clock runs; the servers'
/// stands still, so they end no session by themselves.

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "custodian/locks/inter_process_mutex.hpp"
#include "support/catch.hpp"
#include "world.hpp"

namespace custodian::tests {

/// The session timeout. A lease is lost only if a beat is late, or the machine stands still, for a
/// third of it.
inline constexpr auto timeout = std::chrono::milliseconds{3000};
inline constexpr auto lock_path = "/lock";

/// A holder with a short session, and another client with a long one.
struct Held {
  explicit Held(LeaseOptions terms = {}, std::chrono::milliseconds session_timeout = timeout) {
    ClientOptions options = world.options("holder");
    options.session_timeout = session_timeout;
    options.touch_interval = std::chrono::milliseconds{70};
    client = world.client(options);
    mutex.emplace(*client, lock_path, LockOptions{.lease = terms});
    lease = acquire();
    other = world.client("other");
    others_mutex.emplace(*other, lock_path);
  }

  Lease acquire() {
    auto acquired = run<Lease>(world, [&](auto done) { mutex->async_acquire(done); });
    REQUIRE(acquired.arrived());
    REQUIRE_FALSE(acquired.error());
    return std::move(acquired.result());
  }
  Outcome<Lease> other_queues() {
    Outcome<Lease> waiting;
    bool waits = false;
    AcquireOptions options;
    options.on_position = [&waits](auto&&...) { waits = true; };
    others_mutex->async_acquire(options, waiting.handler());
    REQUIRE(world.run_until([&] { return waits; }));
    return waiting;
  }
  void pass(std::chrono::milliseconds time) {
    boost::asio::steady_timer timer{world.context, time};
    bool passed = false;
    timer.async_wait([&](error_code) { passed = true; });
    REQUIRE(world.run_until([&] { return passed; }));
  }
  /// Releases the lease, and checks that neither client leaves anything behind.
  void end() {
    lease.release();
    if (client) CHECK(world.run_until_idle(*client));
    CHECK(world.run_until_idle(*other));
    CHECK(world.ensemble.watches() == 0);
    mutex.reset();
    others_mutex.reset();
    if (client) CHECK(world.end(client));
    CHECK(world.end(other));
    CHECK(world.ensemble.sessions().empty());
  }

  World world;
  std::unique_ptr<Client> client;
  std::unique_ptr<Client> other;
  std::optional<InterProcessMutex> mutex;
  std::optional<InterProcessMutex> others_mutex;
  Lease lease;
};

inline std::size_t count(const std::vector<Submission>& history, std::string_view kind) {
  return static_cast<std::size_t>(std::ranges::count(history, kind, &Submission::kind));
}

}  // namespace custodian::tests
