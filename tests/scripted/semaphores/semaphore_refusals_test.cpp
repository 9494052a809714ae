// Semaphores whose requests are refused, each in its turn, for lack of permission.

#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"
#include "custodian/shared/shared_count.hpp"
#include "scripted/refusal_waits.hpp"
#include "support/catch.hpp"

namespace custodian::tests::semaphore_refusals_test {
namespace {

using namespace std::chrono_literals;

/// The queue at the turnstile and the permits have their nodes.
void make_nodes(OrderScene& scene) {
  scene.world.make("/s");
  scene.world.make("/s/locks");
  scene.world.make("/s/leases");
}

void acquire_one(OrderScene& scene, InterProcessSemaphore& semaphore) {
  scene.run<std::vector<Lease>>([&](auto done) { semaphore.async_acquire(1, done); });
}

/// The contender watches its node at the turnstile, and the list of the permits.
bool both_are_watched(const OrderScene& scene) { return scene.world.ensemble.watches() >= 2; }

constexpr auto acquire_mutex = [](const Client& client, auto done) {
  InterProcessSemaphoreMutex{client, "/s"}.async_acquire(done);
};

TEST_CASE("refusals: a permit of a semaphore that nobody uses", "[refusals]") {
  play_every_refusal("create! children~ create! children! remove remove", [](OrderScene& scene) {
    make_nodes(scene);
    InterProcessSemaphore semaphore{scene.client, "/s", 2};
    scene.begin();
    acquire_one(scene, semaphore);
  });
}

TEST_CASE("refusals: the first permit of all, which creates the semaphore's nodes", "[refusals]") {
  play_every_refusal(
      "create~ children~ create~ create~ create! create! create! create! children! create~ create! "
      "create! children! remove remove",
      [](OrderScene& scene) {
        InterProcessSemaphore semaphore{scene.client, "/a/s", 2};
        scene.begin();
        acquire_one(scene, semaphore);
      });
}

TEST_CASE("refusals: two permits at once", "[refusals]") {
  play_every_refusal(
      "create! children~ create! create! children! remove remove remove", [](OrderScene& scene) {
        make_nodes(scene);
        InterProcessSemaphore semaphore{scene.client, "/s", 2};
        scene.begin();
        const auto both =
            scene.run<std::vector<Lease>>([&](auto done) { semaphore.async_acquire(2, done); });
        if (!scene.failed() && both.result().size() != 2)
          scene.complain("another number of permits");
      });
}

TEST_CASE("refusals: a permit whose maximum is a shared count", "[refusals]") {
  play_every_refusal("create! children~ get! create! children! get! remove remove",
                     [](OrderScene& scene) {
                       make_nodes(scene);
                       scene.world.make("/maximum", std::string{"\0\0\0\1", 4});
                       SharedCount maximum{scene.client, "/maximum"};
                       InterProcessSemaphore semaphore{scene.client, "/s", maximum};
                       scene.begin();
                       acquire_one(scene, semaphore);
                     });
}

TEST_CASE("refusals: permits that wait for a greater maximum", "[refusals]") {
  play_every_refusal(
      "create! children~ get! get! get! get! create! create! children! remove remove remove",
      [](OrderScene& scene) {
        make_nodes(scene);
        scene.world.make("/maximum", std::string{"\0\0\0\1", 4});
        SharedCount maximum{scene.client, "/maximum"};
        InterProcessSemaphore semaphore{scene.client, "/s", maximum};
        scene.begin();
        run_meanwhile<std::vector<Lease>>(
            scene, [&](auto done) { semaphore.async_acquire(2, done); },
            [&] { return both_are_watched(scene); },
            [&] {
              scene.world.ensemble.operate(
                  request::Set{"/maximum", std::string{"\0\0\0\2", 4}, any_version});
            });
      });
}

TEST_CASE("refusals: a permit that another client has, and releases", "[refusals]") {
  play_every_refusal("create! children~ create! children! get! children! children! remove remove",
                     [](OrderScene& scene) {
                       OtherHolder other{scene, acquire_mutex};
                       InterProcessSemaphore semaphore{scene.client, "/s", 1};
                       scene.begin();
                       run_meanwhile<std::vector<Lease>>(
                           scene, [&](auto done) { semaphore.async_acquire(1, done); },
                           [&] { return both_are_watched(scene); }, [&] { other.release(); });
                     });
}

TEST_CASE("refusals: a permit within a time, that another client has, and releases", "[refusals]") {
  play_every_refusal(
      "create! children~ create! children! get! children! get! children! remove remove",
      [](OrderScene& scene) {
        OtherHolder other{scene, acquire_mutex};
        InterProcessSemaphore semaphore{scene.client, "/s", 1};
        scene.begin();
        const auto outcome = run_meanwhile<PermitsResult>(
            scene, [&](auto done) { semaphore.async_try_acquire_for(1, 1h, done); },
            [&] { return both_are_watched(scene); }, [&] { other.release(); });
        if (!scene.failed() && outcome.result().permits.size() != 1) scene.complain("no permit");
      });
}

TEST_CASE("refusals: a try of a permit that another client has", "[refusals]") {
  play_every_refusal(
      "create! children~ create! children! get! remove remove", [](OrderScene& scene) {
        OtherHolder other{scene, acquire_mutex};
        InterProcessSemaphore semaphore{scene.client, "/s", 1};
        scene.begin();
        const auto outcome =
            scene.run<PermitsResult>([&](auto done) { semaphore.async_try_acquire(1, done); });
        if (scene.failed()) return;
        if (outcome.result().reason != NotAcquired::blocked) scene.complain("another reason");
        if (outcome.result().blocked_by->identity != "other") scene.complain("another holder");
      });
}

TEST_CASE("refusals: the permits' holders and the length of the queue", "[refusals]") {
  play_every_refusal("children! get! children!", [](OrderScene& scene) {
    OtherHolder other{scene, acquire_mutex};
    InterProcessSemaphore semaphore{scene.client, "/s", 1};
    scene.begin();
    const auto all = scene.run<std::vector<Participant>>(
        [&](auto done) { semaphore.async_participants({}, done); });
    if (!scene.failed() && all.result().size() != 1) scene.complain("another number");
    const auto length =
        scene.run<std::size_t>([&](auto done) { semaphore.async_queue_length({}, done); });
    if (!scene.failed() && length.result() != 0) scene.complain("another length");
  });
}

TEST_CASE("refusals: a semaphore in the shape of the standard's", "[refusals]") {
  play_every_refusal("create! children~ create! children! remove remove", [](OrderScene& scene) {
    make_nodes(scene);
    const InterProcessSemaphore semaphore{scene.client, "/s", 2};
    InterProcessSemaphore::Counting counting = semaphore.counting();
    scene.begin();
    run_blocking(scene, [&] {
      counting.acquire();
      counting.release();
    });
  });
}

// -- The semaphore mutex --------------------------------------------------------------------------

TEST_CASE("refusals: a semaphore mutex that nobody holds", "[refusals]") {
  play_every_refusal("create! children~ create! children! remove remove", [](OrderScene& scene) {
    make_nodes(scene);
    InterProcessSemaphoreMutex mutex{scene.client, "/s"};
    scene.begin();
    scene.run<Lease>([&](auto done) { mutex.async_acquire(done); });
  });
}

TEST_CASE("refusals: a semaphore mutex that another client holds, and releases", "[refusals]") {
  play_every_refusal("create! children~ create! children! get! children! children! remove remove",
                     [](OrderScene& scene) {
                       OtherHolder other{scene, acquire_mutex};
                       InterProcessSemaphoreMutex mutex{scene.client, "/s"};
                       scene.begin();
                       run_meanwhile<Lease>(
                           scene, [&](auto done) { mutex.async_acquire(done); },
                           [&] { return both_are_watched(scene); }, [&] { other.release(); });
                     });
}

TEST_CASE("refusals: a semaphore mutex by the standard face", "[refusals]") {
  play_every_refusal("create! children~ create! children! remove remove", [](OrderScene& scene) {
    make_nodes(scene);
    InterProcessSemaphoreMutex mutex{scene.client, "/s"};
    scene.begin();
    run_blocking(scene, [&] { const std::scoped_lock locked{mutex}; });
  });
}

}  // namespace
}  // namespace custodian::tests::semaphore_refusals_test
