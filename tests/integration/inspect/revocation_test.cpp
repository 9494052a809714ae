#include "custodian/inspect/revoke.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::revocation_test {
namespace {

using namespace std::chrono_literals;

/// The options of another client below the same root.
ClientOptions beside(const TestClient& client) {
  ClientOptions options = options_for(connect_string());
  options.name_space = client.root();
  return options;
}

TEST_CASE("a holder who is asked lets go, and the one who asked gets the lock") {
  TestClient holder{"revoked"};
  Client other{beside(holder)};
  InterProcessMutex mutex{*holder, "/lock"};
  InterProcessMutex others{other, "/lock"};
  std::unique_lock lock{mutex};
  std::atomic<bool> asked = false;
  const Subscription revocable = mutex.current_lease().make_revocable([&] { asked = true; });
  auto waiter = std::async(std::launch::async, [&] { return others.acquire(); });
  REQUIRE(eventually([&] { return mutex.queue_length() == 2; }));
  CHECK(revoke(other, others.participants().front().node));
  REQUIRE(eventually([&] { return asked.load(); }));
  // The holder was only asked to release.
  CHECK(waiter.wait_for(0s) == std::future_status::timeout);
  CHECK(mutex.is_held_by_this_thread());
  lock.unlock();
  CHECK(waiter.get().state() == LeaseState::held);
}

TEST_CASE("readers and holders of permits are asked alike, and again as often as somebody asks") {
  TestClient client{"revoked-alike"};
  InterProcessReadWriteLock lock{*client, "/lock"};
  InterProcessSemaphore semaphore{*client, "/semaphore", 2};
  for (const Lease& lease : {lock.read().acquire(), semaphore.acquire()}) {
    std::atomic<int> asked = 0;
    const Subscription revocable = lease.make_revocable([&] { ++asked; });
    for (int times = 1; times <= 3; ++times) {
      // revoke() sends its request again if the reply is lost: then there are more notices.
      const int before = asked;
      REQUIRE(revoke(*client, lease.node()));
      REQUIRE(eventually([&] { return asked > before; }));
    }
    CHECK(lease.state() == LeaseState::held);
  }
}

TEST_CASE("whoever is asked before they listen, or before they hold, is told when they listen") {
  TestClient client{"revoked-early"};
  InterProcessMutex mutex{*client, "/lock"};
  Lease first = mutex.acquire();
  auto second = begun<Lease>([&](auto done) { mutex.async_acquire(std::move(done)); });
  REQUIRE(eventually([&] { return mutex.queue_length() == 2; }));
  for (const Participant& each : mutex.participants()) CHECK(revoke(*client, each.node));
  const auto is_told = [](const Lease& lease) {
    auto told = std::make_shared<std::atomic<bool>>(false);
    const Subscription revocable = lease.make_revocable([told] { *told = true; });
    return eventually([&] { return told->load(); });
  };
  CHECK(is_told(first));
  first.release();
  const auto [error, lease] = second.get();
  REQUIRE_FALSE(error);
  CHECK(is_told(lease));
}

TEST_CASE("a holder who was asked while its connection was down is told when it stands again") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::FaultProxy proxy{own_server().endpoint()};
  TestClient holder{"revoked-while-away", proxy.connect_string(), 30s};
  Client other{beside(holder)};
  InterProcessMutex mutex{*holder, "/lock"};
  const Lease lease = mutex.acquire();
  std::atomic<int> asked = 0;
  const Subscription revocable = lease.make_revocable([&] { ++asked; });
  REQUIRE(revoke(other, lease.node()));
  REQUIRE(eventually([&] { return asked > 0; }));
  proxy.refuse();
  proxy.cut();
  REQUIRE(eventually([&] { return lease.state() == LeaseState::suspended; }));
  const int before = asked;
  REQUIRE(revoke(other, lease.node()));
  proxy.accept();
  REQUIRE(eventually([&] { return asked > before; }));
  CHECK(lease.state() == LeaseState::held);
}

TEST_CASE("only nodes of locks are asked, and a node that has gone is no error") {
  TestClient client{"not-revoked"};
  CHECK(error_of([&] { revoke(*client, "/configuration"); }) == Errc::invalid_argument);
  CHECK(error_of([&] { revoke(*client, "no path"); }) == Errc::invalid_argument);
  CHECK_FALSE(revoke(*client, "/lock/_c_0-lock-0000000001"));
  const auto [error, asked] =
      begun<bool>([&](auto done) {
        async_revoke(*client, "/lock/_c_0-lock-0000000001", std::move(done));
      }).get();
  CHECK_FALSE(error);
  CHECK_FALSE(asked);
  const Lease empty;
  const Subscription nothing = empty.make_revocable([] { FAIL("nobody holds it"); });
}

}  // namespace
}  // namespace custodian::tests::revocation_test
