#pragma once

/// \file
/// GivenUp is the client "one", whose lease runs out by the lease clock. So the client gives up its
/// session, which lives on at the servers, with all its nodes.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

struct GivenUp {
  GivenUp() {
    ClientOptions options = world.options("one");
    options.session_timeout = std::chrono::seconds{10};
    client = world.client(std::move(options));
    mutex.emplace(*client, "/lock");
    auto acquired = run<Lease>(world, [&](auto done) { mutex->async_acquire(done); });
    REQUIRE(acquired.arrived());
    REQUIRE_FALSE(acquired.error());
    lease = std::move(acquired.result());
  }

  /// Gives the session up, while no server can be reached.
  void give_up() {
    const std::int64_t session = client->session().id;
    world.ensemble.cut_off("one");
    clock->advance(lease.remaining(), world.context);
    CHECK(lease.state() == LeaseState::lost);
    CHECK(client->session().id != session);
    CHECK(lives(session));
  }
  [[nodiscard]] bool lives(std::int64_t session) const {
    const auto sessions = world.ensemble.sessions();
    return std::find(sessions.begin(), sessions.end(), session) != sessions.end();
  }
  /// Acts when the servers have answered the next read of this node, and before the client knows
  /// the answer.
  void behind_read_of(const std::string& path, std::function<void()> act) {
    const auto plan = std::make_shared<FaultsAt>("one");
    plan->replying = [this, path, act = std::move(act), is_done = false](std::size_t) mutable {
      const auto history = world.ensemble.history();
      const bool is_read = history.back().path == path && history.back().kind == "get";
      if (is_done || !is_read) return;
      is_done = true;
      act();
    };
    world.ensemble.set_fault_plan(plan);
  }
  void end() {
    world.ensemble.set_fault_plan(nullptr);
    lease.release();
    mutex.reset();
    CHECK(world.end(client));
  }

  const std::shared_ptr<testing::FakeClock> clock =
      std::make_shared<testing::FakeClock>(std::chrono::seconds{20});
  World world{clock};
  std::unique_ptr<Client> client;
  std::optional<InterProcessMutex> mutex;
  Lease lease;
};

}  // namespace custodian::tests
