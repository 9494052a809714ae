// Locks whose requests are refused, each in its turn, for lack of permission.

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "scripted/refusal_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::lock_refusals_test {
namespace {

void acquire_and_release(OrderScene& scene, InterProcessLock& lock) {
  scene.run<Lease>([&](auto done) { lock.async_acquire(done); });
}

TEST_CASE("refusals: a mutex that nobody holds", "[refusals]") {
  play_every_refusal("create! children~ remove", [](OrderScene& scene) {
    scene.world.make("/lock");
    InterProcessMutex mutex{scene.client, "/lock"};
    scene.begin();
    acquire_and_release(scene, mutex);
  });
}

TEST_CASE("refusals: the first acquire of all, which creates the lock's node", "[refusals]") {
  play_every_refusal("create~ children~ create~ create! create! create! children! remove",
                     [](OrderScene& scene) {
                       InterProcessMutex mutex{scene.client, "/a/lock"};
                       scene.begin();
                       acquire_and_release(scene, mutex);
                     });
}

}  // namespace
}  // namespace custodian::tests::lock_refusals_test
