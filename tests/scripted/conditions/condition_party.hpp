#pragma once

/// \file
/// The clients of the condition's cases, each with a lock and a condition, and what must hold at
/// the end of a case.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "custodian/conditions/inter_process_condition.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::condition_party {

using Status = ConditionStatus;

inline constexpr auto lock_path = "/orders/lock";
inline constexpr auto path = "/orders/changed";

/// A client with the lock and the condition.
struct Party {
  Party(World& of, const std::string& name) : world{of}, client{of.client(name)} {}
  ~Party() {
    if (client) world.run_until_idle(*client);
    condition.reset();
    mutex.reset();
    if (client) CHECK(world.end(client));
  }
  Party(const Party&) = delete;
  Party& operator=(const Party&) = delete;

  [[nodiscard]] Lease acquire() {
    auto acquired = run<Lease>(world, [&](auto done) { mutex->async_acquire(std::move(done)); });
    REQUIRE_FALSE(acquired.error());
    return std::move(acquired.result());
  }
  /// Begins a wait, and runs until the waiter's node exists and the lock is released.
  [[nodiscard]] Outcome<Woken> waiting(Deadline until = Deadline::never()) {
    Outcome<Woken> woken;
    Lease lease = acquire();
    const std::string node = lease.node();
    condition->async_wait_until(std::move(lease), until, woken.handler());
    CHECK(world.run_until([&] { return !world.ensemble.exists(node); }));
    world.settle();
    return woken;
  }
  std::size_t signal_by(const Lease& lease) {
    const auto signalled = run<std::size_t>(
        world, [&](auto done) { condition->async_signal(lease, {}, std::move(done)); });
    CHECK_FALSE(signalled.error());
    return signalled.result();
  }
  std::size_t signal(std::size_t times = 1) {
    const Lease lease = acquire();
    std::size_t given = 0;
    for (std::size_t i = 0; i < times; ++i) given += signal_by(lease);
    return given;
  }
  std::size_t signal_all() {
    const Lease lease = acquire();
    const auto signalled = run<std::size_t>(
        world, [&](auto done) { condition->async_signal_all(lease, {}, std::move(done)); });
    CHECK_FALSE(signalled.error());
    return signalled.result();
  }
  /// Ends the session, as if the process had died.
  void die() {
    world.ensemble.expire(client->session().id);
    world.settle();
  }

  World& world;
  std::unique_ptr<Client> client;
  std::optional<InterProcessMutex> mutex{std::in_place, *client, lock_path};
  std::optional<InterProcessCondition> condition{std::in_place, *mutex, path};
};

struct Fixture {
  ~Fixture() {
    CHECK(names().empty());
    CHECK(world.ensemble.watches() == 0);
  }
  Fixture() = default;
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  [[nodiscard]] std::vector<std::string> names() {
    if (!world.ensemble.exists(path)) return {};
    return world.ensemble.children(path);
  }
  [[nodiscard]] std::string first_waiter() {
    std::vector<std::string> all = names();
    std::erase_if(all, [](const std::string& name) { return name.starts_with("sig-"); });
    REQUIRE_FALSE(all.empty());
    const auto number = [](const std::string& name) { return name.substr(name.size() - 10); };
    return *std::ranges::min_element(all, {}, number);
  }
  void check(const Outcome<Woken>& woken, Status status) {
    REQUIRE(world.run_until_arrived(woken));
    CHECK_FALSE(woken.error());
    CHECK(woken.result().status == status);
    CHECK(woken.result().lease.state() == LeaseState::held);
    woken.result().lease.release();
    world.settle();
  }
  void check_asleep(const Outcome<Woken>& woken) {
    world.settle();
    CHECK_FALSE(woken.arrived());
  }

  World world;
};

/// Two waiters, in this order, and a client that signals.
struct TwoWaiters : Fixture {
  Party one{world, "one"};
  Party two{world, "two"};
  Party signaller{world, "signaller"};
  Outcome<Woken> first = one.waiting();
  Outcome<Woken> second = two.waiting();
};

}  // namespace custodian::tests::condition_party
