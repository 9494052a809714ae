#pragma once

/// \file
/// Arrivals at an InterProcessBarrier, each with a client of its own.

#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "custodian/barriers/inter_process_barrier.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::phases {

inline const std::string path = "/phases/one";

struct Fixture {
  ~Fixture() {
    for (auto& each : clients) CHECK(world.end(each));
  }
  Fixture() = default;
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  [[nodiscard]] InterProcessBarrier of(const std::string& name, std::int32_t expected) {
    clients.push_back(world.client(name));
    return {*clients.back(), path, expected};
  }
  [[nodiscard]] std::size_t nodes() { return world.ensemble.children(path).size(); }
  [[nodiscard]] std::int32_t phases() {
    return world.ensemble.operate(request::Get{path}).stat.version;
  }
  [[nodiscard]] Outcome<> arrival(InterProcessBarrier& barrier) {
    Outcome<> passed;
    barrier.async_arrive_and_wait(passed.handler());
    return passed;
  }
  [[nodiscard]] Outcome<> waiting(InterProcessBarrier& barrier) {
    const std::size_t before = world.ensemble.watches();
    auto passed = arrival(barrier);
    CHECK(world.run_until([&] { return world.ensemble.watches() == before + 1; }));
    world.settle();
    CHECK_FALSE(passed.arrived());
    return passed;
  }
  void check_passed(const Outcome<>& outcome) {
    REQUIRE(world.run_until_arrived(outcome));
    CHECK_FALSE(outcome.error());
  }

  World world;
  std::list<std::unique_ptr<Client>> clients;
};

}  // namespace custodian::tests::phases
