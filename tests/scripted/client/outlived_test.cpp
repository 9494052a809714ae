// Leases that outlive their client in a forked child, and subscriptions that are dropped silently.

#include <malloc.h>
#include <unistd.h>

#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"
#include "support/in_child.hpp"

namespace custodian::tests::outlived_test {
namespace {

/// An object whose destructor ends the process.
struct Tripwire {
  Tripwire() = default;
  Tripwire(const Tripwire&) = delete;
  Tripwire& operator=(const Tripwire&) = delete;
  ~Tripwire() {
    if (armed) ::_exit(2);
  }
  bool armed = false;
};

TEST_CASE("outlived: the last owner of a client, a lease in a forked child, leaves it as it is") {
  World world;
  ClientOptions options = world.options("mine");
  // The client's internals own the tripwire. A forked child must not destroy these internals: their
  // mutexes may be locked there for ever.
  auto tripwire = std::make_shared<Tripwire>();
  Tripwire& wire = *tripwire;
  options.log = [kept = std::move(tripwire)](LogLevel, std::string_view) {};
  auto client = world.client(options);
  options.log = nullptr;
  std::optional<InterProcessMutex> mutex{std::in_place, *client, "/lock"};
  auto acquired = run<Lease>(world, [&](auto done) { mutex->async_acquire(done); });
  REQUIRE(acquired.arrived());
  std::optional<Lease> lease{std::move(acquired.result())};
  mutex.reset();
  const std::weak_ptr<detail::ClientCore> core = client->core();
  client.reset();
  world.run_until([&] { return core.use_count() <= 2; });
  world.settle();
  REQUIRE_FALSE(core.expired());

  CHECK(in_child([&] {
    wire.armed = true;
    lease.reset();
    return true;
  }));
  lease.reset();
  CHECK(world.run_until([&] { return core.expired(); }));
}

TEST_CASE("outlived: what passes a lock's node on is gone before its client's core") {
  World world;
  auto client = world.client("mine");
  std::optional<InterProcessMutex> mutex{std::in_place, *client, "/lock"};
  auto acquired = run<Lease>(world, [&](auto done) { mutex->async_acquire(done); });
  REQUIRE(acquired.arrived());
  std::optional<Lease> lease{std::move(acquired.result())};
  mutex.reset();
  const std::weak_ptr<detail::ClientCore> core = client->core();
  bool core_was_there = false;
  // The object that passes a node on may refer to the context of the client's threads, which the
  // core owns.
  std::shared_ptr<void> passer{nullptr, [&](auto) {
                                 world.settle();  // as the client's own thread would
                                 core_was_there = !core.expired();
                               }};
  detail::set_pass_on(
      detail::lock_node(*lease), [passer](const detail::LockNodePtr&) {}, [] {});
  passer.reset();
  client.reset();
  world.settle();
  lease.reset();
  CHECK(world.run_until([&] { return core.expired(); }));
  CHECK(core_was_there);
}

#ifndef CUSTODIAN_SANITIZED
/// The number of bytes that this process has allocated and not freed.
std::size_t allocated() { return ::mallinfo2().uordblks; }

TEST_CASE("outlived: a hundred thousand subscriptions that are gone leave nothing behind") {
  World world;
  auto client = world.client("mine");
  InterProcessMutex mutex{*client, "/lock"};
  auto acquired = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
  REQUIRE(acquired.arrived());
  Lease lease = std::move(acquired.result());
  const std::size_t before = allocated();
  for (int i = 0; i != 100'000; ++i) {
    const Subscription of_client = client->on_connection_state([](ConnectionState) {});
    const Subscription of_lease = lease.on_state([](LeaseState) {});
  }
  // Subscriptions that stayed behind would take 16 MB.
  CHECK(allocated() < before + 100'000);
  lease.release();
  CHECK(world.run_until_idle(*client));
}
#endif

}  // namespace
}  // namespace custodian::tests::outlived_test
