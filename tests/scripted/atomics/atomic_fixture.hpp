#pragma once

/// \file
/// A world with one client, "observed", and its handle on a number.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "custodian/atomics/distributed_atomic_long.hpp"
#include "scripted/atomics/atomic_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::atomics {

using Number = Versioned<std::int64_t>;
using Done = Updated<std::int64_t>;

inline constexpr auto place = "/p/number";

struct Fixture {
  explicit Fixture(UpdateOptions options = {.settle = Settle::exactly_once}) {
    client = world.client("observed");
    number.emplace(*client, place, std::move(options));
  }
  ~Fixture() {
    world.ensemble.set_fault_plan(nullptr);  // it refers to what the test had
    number.reset();
    CHECK(world.run_until_idle(*client));
    CHECK(world.run_until([&] { return witnesses().empty(); }));
    CHECK(world.end(client));
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  [[nodiscard]] std::vector<std::string> witnesses() {
    return world.ensemble.operate(request::GetChildren{place}).children;
  }
  [[nodiscard]] Outcome<Done> add(std::int64_t operand) {
    return run<Done>(world, [&](auto done) { number->async_fetch_add(operand, done); });
  }
  void write(std::int64_t value) {
    world.ensemble.operate(request::Set{place, bytes_of_long(value)});
  }
  [[nodiscard]] std::string bytes() { return world.ensemble.operate(request::Get{place}).data; }
  [[nodiscard]] bool is(std::int64_t value) { return bytes() == bytes_of_long(value); }

  World world;
  std::unique_ptr<Client> client;
  std::optional<DistributedAtomicLong> number;
};

}  // namespace custodian::tests::atomics
