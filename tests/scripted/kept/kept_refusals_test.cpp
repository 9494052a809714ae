// Locks that a client keeps or passes on, with each request refused in its turn for lack of
// permission.

#include <boost/asio/co_spawn.hpp>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/locks/with_lock.hpp"
#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"
#include "scripted/refusal_waits.hpp"
#include "support/catch.hpp"

namespace custodian::tests::kept_refusals_test {
namespace {

using namespace std::chrono_literals;

const LockOptions kept{.keep_idle_for = 1h};

/// Acquires a lock, and releases it at once.
template <typename Lock>
void use(OrderScene& scene, Lock& lock) {
  if (!scene.failed()) scene.run<Lease>([&](auto done) { lock.async_acquire(done); });
}

TEST_CASE("refusals: a kept lock that is used twice", "[refusals]") {
  play_every_refusal("create! children~ remove", [](OrderScene& scene) {
    scene.world.make("/lock");
    InterProcessMutex mutex{scene.client, "/lock", kept};
    scene.begin();
    use(scene, mutex);
    use(scene, mutex);
    scene.run<bool>([&](auto done) { scene.client.async_close(Deadline{1h}, done); });
  });
}

TEST_CASE("refusals: the first use of a kept lock, which creates its node", "[refusals]") {
  play_every_refusal("create~ children~ create! create! children! remove", [](OrderScene& scene) {
    InterProcessMutex mutex{scene.client, "/lock", kept};
    scene.begin();
    use(scene, mutex);
    use(scene, mutex);
    scene.run<bool>([&](auto done) { scene.client.async_close(Deadline{1h}, done); });
  });
}

TEST_CASE("refusals: a kept lock that another client holds, and releases", "[refusals]") {
  play_every_refusal(
      "create! children~ get! get! children~ remove~ create! children~ remove",
      [](OrderScene& scene) {
        OtherHolder other{scene, [](const Client& client, auto done) {
                            InterProcessMutex{client, "/lock"}.async_acquire(done);
                          }};
        InterProcessMutex mutex{scene.client, "/lock", kept};
        scene.begin();
        run_meanwhile<Lease>(
            scene, [&](auto done) { mutex.async_acquire(done); },
            [&] { return scene.world.ensemble.watches() >= 2; }, [&] { other.release(); });
        use(scene, mutex);
        scene.run<bool>([&](auto done) { scene.client.async_close(Deadline{1h}, done); });
      });
}

TEST_CASE("refusals: a kept lock that another client wants", "[refusals]") {
  play_every_refusal("create! children~ remove", [](OrderScene& scene) {
    scene.world.make("/lock");
    InterProcessMutex mutex{scene.client, "/lock", kept};
    auto other = scene.world.client("other");
    {
      InterProcessMutex wanted{*other, "/lock"};
      scene.begin();
      use(scene, mutex);
      const auto its = run<Lease>(scene.world, [&](auto done) { wanted.async_acquire(done); });
      if (!its.arrived() || its.error()) scene.complain("the other client does not get it");
    }
    if (!scene.world.end(other)) scene.complain("something keeps the other client alive");
    scene.run<bool>([&](auto done) { scene.client.async_close(Deadline{1h}, done); });
  });
}

TEST_CASE("refusals: a kept semaphore mutex that is used twice", "[refusals]") {
  play_every_refusal("create! children~ create! children! remove remove", [](OrderScene& scene) {
    scene.world.make("/s");
    scene.world.make("/s/locks");
    scene.world.make("/s/leases");
    InterProcessSemaphoreMutex mutex{scene.client, "/s", kept};
    scene.begin();
    use(scene, mutex);
    use(scene, mutex);
    scene.run<bool>([&](auto done) { scene.client.async_close(Deadline{1h}, done); });
  });
}

TEST_CASE("refusals: readers that share a node", "[refusals]") {
  play_every_refusal("create! children~ children~ remove", [](OrderScene& scene) {
    scene.world.make("/lock");
    InterProcessReadWriteLock lock{scene.client, "/lock", LockOptions{.share_readers = 10}};
    scene.begin();
    const auto first = scene.run<Lease>([&](auto done) { lock.read().async_acquire(done); });
    use(scene, lock.read());
  });
}

TEST_CASE("refusals: kept readers that share a node, and a writer", "[refusals]") {
  play_every_refusal(
      "create! children~ children~ remove~ create! children~ remove", [](OrderScene& scene) {
        scene.world.make("/lock");
        InterProcessReadWriteLock lock{scene.client, "/lock",
                                       LockOptions{.keep_idle_for = 1h, .share_readers = 10}};
        scene.begin();
        use(scene, lock.read());
        use(scene, lock.read());
        use(scene, lock.write());
        scene.run<bool>([&](auto done) { scene.client.async_close(Deadline{1h}, done); });
      });
}

// -- Hand-over ------------------------------------------------------------------------------------

TEST_CASE("refusals: a cohort of two holders", "[refusals]") {
  play_every_refusal("create! children~ create children remove remove", [](OrderScene& scene) {
    scene.world.make("/lock");
    InterProcessMutex mutex{scene.client, "/lock", LockOptions{.hand_off = HandOff::cohort(5)}};
    scene.begin();
    auto first = scene.run<Lease>([&](auto done) { mutex.async_acquire(done); });
    if (scene.failed()) return;
    scene.run<Lease>([&](auto done) {
      mutex.async_acquire(done);
      first.result().release();
    });
  });
}

TEST_CASE("refusals: three acquires of one client at once", "[refusals]") {
  play_every_refusal(
      "create! children~ create! create! children~ remove~ get! get multi remove",
      [](OrderScene& scene) {
        scene.world.make("/lock");
        InterProcessMutex mutex{scene.client, "/lock"};
        scene.begin();
        const auto ended = std::make_shared<std::vector<error_code>>();
        for (int i = 0; i < 3; ++i) {
          // Each is released at once.
          mutex.async_acquire([ended](error_code error, const Lease&) { ended->push_back(error); });
        }
        if (!scene.wait_until([&] { return ended->size() == 3; }))
          scene.complain("one does not end");
        for (const error_code& each : *ended) scene.note(each);
      });
}

// -- Calls under a lock ---------------------------------------------------------------------------

TEST_CASE("refusals: a call under a lock", "[refusals]") {
  play_every_refusal("create! children~ remove", [](OrderScene& scene) {
    scene.world.make("/lock");
    scene.begin();
    run_blocking(scene, [&] {
      if (!with_lock(scene.client, "/lock", {}, [] {})) scene.complain("it did not run");
    });
  });
}

TEST_CASE("refusals: a coroutine under a lock", "[refusals]") {
  play_every_refusal("create! children~ remove", [](OrderScene& scene) {
    scene.world.make("/lock");
    scene.begin();
    scene.run<>([&](auto done) {
      boost::asio::co_spawn(scene.world.context,
                            co_with_lock(scene.client, "/lock", {},
                                         []() -> boost::asio::awaitable<void> { co_return; }),
                            [done](std::exception_ptr thrown, const LockedCall<void>&) {
                              error_code error;
                              try {
                                if (thrown) std::rethrow_exception(thrown);
                              } catch (const Error& failure) {
                                error = failure.code();
                              }
                              done(error);
                            });
    });
  });
}

}  // namespace
}  // namespace custodian::tests::kept_refusals_test
