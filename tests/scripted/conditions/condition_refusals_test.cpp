// Which locks and leases a condition refuses, and how a client's end ends its waits.

#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "scripted/conditions/condition_party.hpp"

namespace custodian::tests::condition_refusals_test {
namespace {

using namespace std::chrono_literals;
using namespace condition_party;

TEST_CASE("condition: who has lost the lock neither waits nor signals", "[condition]") {
  Fixture fixture;
  Party waiter{fixture.world, "waiter"};
  Party former{fixture.world, "former"};
  const auto woken = waiter.waiting();
  Lease lease = former.acquire();
  fixture.world.remove(lease.node());
  auto signalled = run<std::size_t>(fixture.world, [&](auto done) {
    former.condition->async_signal(lease, {}, std::move(done));
  });
  CHECK(signalled.error() == Errc::lock_lost);
  CHECK(signalled.result() == 0);
  fixture.check_asleep(woken);
  former.die();
  REQUIRE(fixture.world.run_until([&] { return lease.state() == LeaseState::lost; }));
  const auto refused = run<Woken>(fixture.world, [&](auto done) {
    former.condition->async_wait(std::move(lease), std::move(done));
  });
  CHECK(refused.error() == Errc::lock_lost);
  CHECK(former.signal() == 1);
  fixture.check(woken, Status::signalled);
}

TEST_CASE("condition: a lease of another lock neither waits nor signals", "[condition]") {
  Fixture fixture;
  Party waiter{fixture.world, "waiter"};
  InterProcessMutex other{*waiter.client, "/other"};
  const auto acquire = [&] {
    auto acquired =
        run<Lease>(fixture.world, [&](auto done) { other.async_acquire(std::move(done)); });
    return std::move(acquired.result());
  };
  Lease lease = acquire();
  const auto signalled = run<std::size_t>(fixture.world, [&](auto done) {
    waiter.condition->async_signal(lease, {}, std::move(done));
  });
  CHECK(signalled.error() == Errc::invalid_argument);
  const auto refused = run<Woken>(fixture.world, [&](auto done) {
    waiter.condition->async_wait(std::move(lease), std::move(done));
  });
  CHECK(refused.error() == Errc::invalid_argument);
}

TEST_CASE("condition: a lease that shares its hold cannot wait", "[condition]") {
  Fixture fixture;
  Party waiter{fixture.world, "waiter"};
  Lease lease = waiter.acquire();
  Lease other = lease.share();
  const auto refused = run<Woken>(fixture.world, [&](auto done) {
    waiter.condition->async_wait(std::move(lease), std::move(done));
  });
  CHECK(refused.error() == Errc::invalid_argument);
  CHECK(other.state() == LeaseState::held);
}

TEST_CASE("condition: a client that is closed ends its waits", "[condition]") {
  Fixture fixture;
  Party waiter{fixture.world, "waiter"};
  const auto woken = waiter.waiting();
  const auto closed = run<bool>(
      fixture.world, [&](auto done) { waiter.client->async_close(Deadline{5s}, std::move(done)); });
  CHECK_FALSE(closed.error());
  REQUIRE(fixture.world.run_until_arrived(woken));
  CHECK(woken.error() == Errc::closed);
}

/// Whether the lock is refused for a condition at this path, with an error that has this text.
template <typename Lock>
bool refusal_says(std::string_view text, Lock&& lock, std::string at) {
  try {
    const InterProcessCondition condition{std::forward<Lock>(lock), std::move(at)};
    return false;
  } catch (const Error& error) {
    return std::string_view{error.what()}.find(text) != std::string_view::npos;
  }
}

TEST_CASE("condition: locks that cannot have one are refused", "[condition]") {
  World world;
  auto client = world.client("one");
  {
    const InterProcessMutex mutex{*client, lock_path};
    CHECK(refusal_says("a path of its own", mutex, lock_path));
    CHECK(refusal_says("a path of its own", mutex, std::string{lock_path} + "/below"));
    CHECK_NOTHROW(InterProcessCondition(mutex, std::string{lock_path} + "-changed"));
    const InterProcessMutex cohort{*client, "/cohort", {.hand_off = HandOff::cohort(5)}};
    CHECK(refusal_says("/cohort is kept", cohort, path));
    const InterProcessMutex kept{*client, "/kept", {.keep_idle_for = 1s}};
    CHECK(refusal_says("keep_idle_for", kept, path));
    InterProcessReadWriteLock lock{*client, "/read-write"};
    CHECK(refusal_says("write lock", lock.read(), path));
    CHECK_NOTHROW(InterProcessCondition(lock.write(), path));
  }
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::condition_refusals_test
