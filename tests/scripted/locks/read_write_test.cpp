// The read/write lock: incidents of a downgrade, and a path that another lock uses.

#include <boost/asio/error.hpp>
#include <stdexcept>

#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::read_write_test {
namespace {

using namespace std::chrono_literals;

Lease acquire(World& world, InterProcessLock& lock) {
  auto acquired = run<Lease>(world, [&](auto done) { lock.async_acquire(done); });
  REQUIRE(acquired.arrived());
  REQUIRE_FALSE(acquired.error());
  return std::move(acquired.result());
}

TEST_CASE("downgrade: an ACL provider that throws fails it, and takes nothing with it",
          "[read-write]") {
  World world;
  ClientOptions options = world.options("mine");
  options.acl_provider = [](std::string_view path) {
    if (path.find("__READ__") != std::string_view::npos) throw std::runtime_error{"no ACL"};
    return open_acl();
  };
  auto client = world.client(options);
  {
    InterProcessReadWriteLock lock{*client, "/lock"};
    const Lease writing = acquire(world, lock.write());
    auto reading = run<Lease>(world, [&](auto done) { lock.read().async_acquire(writing, done); });
    REQUIRE(reading.arrived());
    CHECK(reading.error() == Errc::invalid_argument);
    CHECK(writing.state() == LeaseState::held);
    CHECK(world.ensemble.children("/lock").size() == 1);
  }
  CHECK(world.end(client));
}

TEST_CASE("downgrade: the servers refuse it when the writer's node is gone, known or not",
          "[read-write]") {
  World world;
  auto client = world.client("mine");
  auto other = world.client("other");
  {
    InterProcessReadWriteLock lock{*client, "/lock"};
    InterProcessReadWriteLock others{*other, "/lock"};
    const Lease writing = acquire(world, lock.write());
    world.remove(writing.node());
    const Lease next = acquire(world, others.write());
    REQUIRE(writing.state() == LeaseState::held);  // no event has arrived yet
    const auto reading =
        run<Lease>(world, [&](auto done) { lock.read().async_acquire(writing, done); });
    REQUIRE(reading.arrived());
    CHECK(reading.error() == Errc::lock_lost);
    CHECK(world.ensemble.children("/lock").size() == 1);
  }
  CHECK(world.end(client));
  CHECK(world.end(other));
}

TEST_CASE("downgrade: the read lock has the terms that it was acquired on", "[read-write]") {
  World world;
  auto client = world.client("mine");
  {
    InterProcessReadWriteLock lock{*client, "/lock"};
    const Lease writing = acquire(world, lock.write());
    AcquireOptions options;
    options.lease.hold_at_most = 20ms;
    auto reading =
        run<Lease>(world, [&](auto done) { lock.read().async_acquire(writing, options, done); });
    REQUIRE(reading.arrived());
    REQUIRE_FALSE(reading.error());
    REQUIRE(world.run_until([&] { return reading.result().state() == LeaseState::lost; }));
    CHECK(reading.result().loss_reason() == LossReason::held_too_long);
    CHECK(writing.state() == LeaseState::held);
    options.lease.hold_at_most = 0ms;
    const auto refused =
        run<Lease>(world, [&](auto done) { lock.read().async_acquire(writing, options, done); });
    REQUIRE(refused.arrived());
    CHECK(refused.error() == Errc::invalid_argument);
  }
  CHECK(world.end(client));
}

TEST_CASE("kazoo: a name of Curator's on the path is an error in the log, once", "[read-write]") {
  World world;
  std::vector<std::string> errors;
  ClientOptions options = world.options("mine");
  options.log = [&errors](LogLevel level, std::string_view message) {
    if (level == LogLevel::error) errors.emplace_back(message);
  };
  auto client = world.client(options);
  {
    InterProcessReadWriteLock curators{*client, "/lock"};
    InterProcessReadWriteLock kazoos{*client, "/lock", {.profile = NamingProfile::kazoo}};
    const Lease first = acquire(world, curators.read());
    CHECK(errors.empty());
    const Lease second = acquire(world, kazoos.read());
    const Lease third = acquire(world, kazoos.read());
    REQUIRE(world.run_until([&] { return !errors.empty(); }));
    world.settle();
    CHECK(errors.size() == 1);
    CHECK(errors.front().find(first.node().substr(first.node().rfind('/') + 1)) !=
          std::string::npos);
  }
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::read_write_test
