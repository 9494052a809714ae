#pragma once

/// \file
/// Members of a double barrier, each with a client of its own.

#include <list>
#include <memory>
#include <optional>
#include <string>

#include "custodian/barriers/distributed_double_barrier.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::party {

inline const std::string path = "/parties/one";
inline const std::string ready = path + "/ready";

struct Member {
  Member(World& of, const std::string& name, std::int32_t needed, Late late)
      : world{of}, client{of.client(name)} {
    barrier.emplace(*client, path, needed, late);
  }
  ~Member() {
    barrier.reset();
    if (client) CHECK(world.end(client));
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  Outcome<bool> enter() {
    Outcome<bool> entered;
    barrier->async_enter(entered.handler());
    return entered;
  }
  Outcome<bool> leave() {
    Outcome<bool> left;
    barrier->async_leave(left.handler());
    return left;
  }

  World& world;
  std::unique_ptr<Client> client;
  std::optional<DistributedDoubleBarrier> barrier;
};

struct Fixture {
  Member& add(const std::string& name, std::int32_t needed = 2, Late late = Late::joins) {
    return members.emplace_back(world, name, needed, late);
  }
  [[nodiscard]] std::size_t nodes() { return world.ensemble.children(path).size(); }
  [[nodiscard]] Outcome<bool> waiting(Member& member) {
    const std::size_t before = world.ensemble.watches();
    auto entered = member.enter();
    CHECK(world.run_until([&] { return world.ensemble.watches() == before + 1; }));
    world.settle();
    CHECK_FALSE(entered.arrived());
    return entered;
  }
  void check_done(const Outcome<bool>& outcome) {
    REQUIRE(world.run_until_arrived(outcome));
    CHECK_FALSE(outcome.error());
    CHECK(outcome.result());
  }
  /// Makes both members enter; one waits for the other.
  void enter_both(Member& one, Member& other) {
    const auto entered = one.enter();
    check_done(other.enter());
    check_done(entered);
  }
  void leave_both(Member& one, Member& other) {
    const auto left = one.leave();
    check_done(other.leave());
    check_done(left);
  }
  /// Makes the nodes that a party leaves behind whose members have all crashed.
  void leave_ready_behind() {
    world.make("/parties");
    world.make(path);
    world.make(ready, "members:\ngone\n");
  }

  World world;
  std::list<Member> members;
};

}  // namespace custodian::tests::party
