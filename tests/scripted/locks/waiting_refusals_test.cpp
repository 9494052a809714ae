// Acquires that wait, try or re-enter, and looks at a lock, whose requests are refused, each in its
// turn, for lack of permission.

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "scripted/refusal_waits.hpp"
#include "support/catch.hpp"

namespace custodian::tests::waiting_refusals_test {
namespace {

using namespace std::chrono_literals;

InterProcessMutex mutex_of(const Client& client) { return InterProcessMutex{client, "/lock"}; }

constexpr auto acquire_mutex = [](const Client& client, auto done) {
  mutex_of(client).async_acquire(done);
};

/// The waiter watches its own node and its predecessor's.
bool both_are_watched(const OrderScene& scene) { return scene.world.ensemble.watches() >= 2; }

TEST_CASE("refusals: a mutex that another client holds, and releases", "[refusals]") {
  play_every_refusal("create! children~ get! get! remove", [](OrderScene& scene) {
    OtherHolder other{scene, acquire_mutex};
    InterProcessMutex mutex = mutex_of(scene.client);
    scene.begin();
    run_meanwhile<Lease>(
        scene, [&](auto done) { mutex.async_acquire(done); },
        [&] { return both_are_watched(scene); }, [&] { other.release(); });
  });
}

TEST_CASE("refusals: an acquire with a limit of a mutex that another client releases",
          "[refusals]") {
  play_every_refusal("create! children~ get! get! remove", [](OrderScene& scene) {
    OtherHolder other{scene, acquire_mutex};
    InterProcessMutex mutex = mutex_of(scene.client);
    scene.begin();
    const auto outcome = run_meanwhile<AcquireResult>(
        scene, [&](auto done) { mutex.async_try_acquire_for(1h, done); },
        [&] { return both_are_watched(scene); }, [&] { other.release(); });
    if (!scene.failed() && !outcome.result()) scene.complain("no lease, and no error");
  });
}

TEST_CASE("refusals: a try of a free mutex", "[refusals]") {
  play_every_refusal("create! children~ remove", [](OrderScene& scene) {
    scene.world.make("/lock");
    InterProcessMutex mutex = mutex_of(scene.client);
    scene.begin();
    const auto outcome =
        scene.run<AcquireResult>([&](auto done) { mutex.async_try_acquire(done); });
    if (!scene.failed() && !outcome.result()) scene.complain("no lease, and no error");
  });
}

TEST_CASE("refusals: a try of a mutex that another client holds", "[refusals]") {
  play_every_refusal("create! children~ get! remove", [](OrderScene& scene) {
    OtherHolder other{scene, acquire_mutex};
    InterProcessMutex mutex = mutex_of(scene.client);
    scene.begin();
    const auto outcome =
        scene.run<AcquireResult>([&](auto done) { mutex.async_try_acquire(done); });
    if (scene.failed()) return;
    if (outcome.result().reason != NotAcquired::blocked) scene.complain("another reason");
    if (outcome.result().blocked_by->identity != "other") scene.complain("another holder");
  });
}

TEST_CASE("refusals: a mutex that a holder of the same client releases", "[refusals]") {
  play_every_refusal("create! children~ multi remove", [](OrderScene& scene) {
    scene.world.make("/lock");
    InterProcessMutex mutex = mutex_of(scene.client);
    auto first = run<Lease>(scene.world, [&](auto done) { mutex.async_acquire(done); });
    scene.begin();
    const auto waits = std::make_shared<bool>(false);
    AcquireOptions options;
    options.on_position = [waits](std::size_t, const Participant&) { *waits = true; };
    run_meanwhile<Lease>(
        scene, [&](auto done) { mutex.async_acquire(options, done); }, [&] { return *waits; },
        [&] { first.result().release(); });
    scene.world.settle();
  });
}

TEST_CASE("refusals: a try of a mutex that the same client holds", "[refusals]") {
  play_every_refusal("create! children~ remove remove", [](OrderScene& scene) {
    scene.world.make("/lock");
    InterProcessMutex mutex = mutex_of(scene.client);
    const auto first = run<Lease>(scene.world, [&](auto done) { mutex.async_acquire(done); });
    scene.begin();
    const auto outcome =
        scene.run<AcquireResult>([&](auto done) { mutex.async_try_acquire(done); });
    if (scene.failed()) return;
    if (outcome.result().reason != NotAcquired::blocked) scene.complain("another reason");
  });
}

// -- Both sides of a read/write lock
// ---------------------------------------------------------------

TEST_CASE("refusals: a read lock and a write lock that nobody holds", "[refusals]") {
  play_every_refusal("create! children~ remove~ create! children~ remove", [](OrderScene& scene) {
    scene.world.make("/lock");
    InterProcessReadWriteLock lock{scene.client, "/lock"};
    scene.begin();
    {
      const auto reading = scene.run<Lease>([&](auto done) { lock.read().async_acquire(done); });
    }
    if (scene.failed()) return;
    scene.run<Lease>([&](auto done) { lock.write().async_acquire(done); });
  });
}

TEST_CASE("refusals: a read lock while a writer of another client has it", "[refusals]") {
  play_every_refusal("create! children~ get! get! remove", [](OrderScene& scene) {
    OtherHolder other{scene, [](const Client& client, auto done) {
                        InterProcessReadWriteLock{client, "/lock"}.write().async_acquire(done);
                      }};
    InterProcessReadWriteLock lock{scene.client, "/lock"};
    scene.begin();
    run_meanwhile<Lease>(
        scene, [&](auto done) { lock.read().async_acquire(done); },
        [&] { return both_are_watched(scene); }, [&] { other.release(); });
  });
}

TEST_CASE("refusals: a write lock while a reader of another client has it", "[refusals]") {
  play_every_refusal("create! children~ get! get! remove", [](OrderScene& scene) {
    OtherHolder other{scene, [](const Client& client, auto done) {
                        InterProcessReadWriteLock{client, "/lock"}.read().async_acquire(done);
                      }};
    InterProcessReadWriteLock lock{scene.client, "/lock"};
    scene.begin();
    run_meanwhile<Lease>(
        scene, [&](auto done) { lock.write().async_acquire(done); },
        [&] { return both_are_watched(scene); }, [&] { other.release(); });
  });
}

TEST_CASE("refusals: a writer that becomes a reader", "[refusals]") {
  play_every_refusal("multi! exists multi remove", [](OrderScene& scene) {
    scene.world.make("/lock");
    InterProcessReadWriteLock lock{scene.client, "/lock"};
    auto writing = run<Lease>(scene.world, [&](auto done) { lock.write().async_acquire(done); });
    scene.begin();
    const auto reading =
        scene.run<Lease>([&](auto done) { lock.read().async_acquire(writing.result(), done); });
    writing.result().release();
  });
}

// -- What looks at a lock -------------------------------------------------------------------------

TEST_CASE("refusals: the participants and the length of a queue", "[refusals]") {
  play_every_refusal("children! get! children!", [](OrderScene& scene) {
    OtherHolder other{scene, acquire_mutex};
    InterProcessMutex mutex = mutex_of(scene.client);
    scene.begin();
    const auto all =
        scene.run<std::vector<Participant>>([&](auto done) { mutex.async_participants({}, done); });
    if (!scene.failed() && all.result().size() != 1) scene.complain("another number");
    const auto length =
        scene.run<std::size_t>([&](auto done) { mutex.async_queue_length({}, done); });
    if (!scene.failed() && length.result() != 1) scene.complain("another length");
  });
}

TEST_CASE("refusals: the participants and the length of a queue that nobody has created",
          "[refusals]") {
  play_every_refusal("children children", [](OrderScene& scene) {
    InterProcessMutex mutex = mutex_of(scene.client);
    scene.begin();
    const auto all =
        scene.run<std::vector<Participant>>([&](auto done) { mutex.async_participants({}, done); });
    const auto length =
        scene.run<std::size_t>([&](auto done) { mutex.async_queue_length({}, done); });
    if (!scene.failed() && length.result() != 0) scene.complain("another length");
  });
}

// -- The standard face ----------------------------------------------------------------------------

TEST_CASE("refusals: a mutex by the standard face, with a re-entry", "[refusals]") {
  play_every_refusal("create! children~ remove", [](OrderScene& scene) {
    scene.world.make("/lock");
    InterProcessMutex mutex = mutex_of(scene.client);
    scene.begin();
    run_blocking(scene, [&] {
      mutex.lock();
      mutex.lock();
      mutex.unlock();
      mutex.unlock();
    });
  });
}

TEST_CASE("refusals: a thread that locks both sides of a read/write lock", "[refusals]") {
  play_every_refusal("create! children~ multi! exists remove remove", [](OrderScene& scene) {
    scene.world.make("/lock");
    InterProcessReadWriteLock lock{scene.client, "/lock"};
    scene.begin();
    run_blocking(scene, [&] {
      const std::scoped_lock writing{lock.write()};
      const std::scoped_lock reading{lock.read()};
    });
  });
}

}  // namespace
}  // namespace custodian::tests::waiting_refusals_test
