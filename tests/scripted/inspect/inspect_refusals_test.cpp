// Looks at locks, whose requests are refused, each in its turn, for lack of permission.

#include <algorithm>

#include "custodian/inspect/detect_deadlock.hpp"
#include "custodian/inspect/list_locks.hpp"
#include "custodian/inspect/revoke.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "scripted/refusal_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::inspect_refusals_test {
namespace {

const std::string mutex_name = "lock-0000000000";

void inspect(OrderScene& scene, const std::string& path) {
  scene.run<Inspection>(
      [&](auto done) { async_inspect(scene.client, path, InspectOptions{}, done); });
}

TEST_CASE("refusals: a look at a mutex", "[refusals]") {
  play_every_refusal("children! get! get!", [](OrderScene& scene) {
    scene.world.make("/lock");
    scene.world.make("/lock/" + mutex_name, "one");
    scene.world.make("/lock/lock-0000000001", "two");
    scene.begin();
    inspect(scene, "/lock");
  });
}

TEST_CASE("refusals: a look at a path that is not there", "[refusals]") {
  play_every_refusal("children get", [](OrderScene& scene) {
    scene.begin();
    inspect(scene, "/lock");
  });
}

TEST_CASE("refusals: a look at a semaphore", "[refusals]") {
  play_every_refusal("children! children! children! get! get!", [](OrderScene& scene) {
    scene.world.make("/semaphore");
    scene.world.make("/semaphore/leases");
    scene.world.make("/semaphore/leases/lease-0000000000", "one");
    scene.world.make("/semaphore/locks");
    scene.world.make("/semaphore/locks/lock-0000000001", "two");
    scene.begin();
    inspect(scene, "/semaphore");
  });
}

TEST_CASE("refusals: a look at a shared value", "[refusals]") {
  play_every_refusal("children! get!", [](OrderScene& scene) {
    scene.world.make("/value", "5");
    scene.begin();
    inspect(scene, "/value");
  });
}

const std::string member_id = "0123456789abcdef0123456789abcdef";

// The members first, then the ready node, which says who of them is in.
TEST_CASE("refusals: a look at a double barrier that is ready", "[refusals]") {
  play_every_refusal("children! get! get! get!", [](OrderScene& scene) {
    scene.world.make("/barrier");
    scene.world.make("/barrier/" + member_id, "one");
    scene.world.make("/barrier/ready");
    scene.begin();
    inspect(scene, "/barrier");
  });
}

// Whether the children are ephemeral is looked at first: only then it is a double barrier.
TEST_CASE("refusals: a look at what may be a double barrier of another library", "[refusals]") {
  play_every_refusal("children! get! get! get!", [](OrderScene& scene) {
    scene.world.make("/barrier");
    auto other = scene.world.client("other");
    const auto made = run<Created>(scene.world, [&](auto done) {
      other->async_create("/barrier/" + member_id, "one", {.mode = CreateMode::ephemeral}, done);
    });
    if (made.error()) scene.complain("there is no member");
    scene.begin();
    inspect(scene, "/barrier");
    scene.world.end(other);
  });
}

TEST_CASE("refusals: a look at a condition, and at the arrivals of a phase", "[refusals]") {
  const std::string id = "_c_01234567-89ab-cdef-0123-456789abcdef-";
  play_every_refusal("children! get! get! children! get! get!", [&](OrderScene& scene) {
    scene.world.make("/condition");
    scene.world.make("/condition/" + id + "wait-0000000000", "one");
    scene.world.make("/phases");
    scene.world.make("/phases/" + id + "phase-0", "one");
    scene.begin();
    inspect(scene, "/condition");
    if (scene.failed()) return;
    inspect(scene, "/phases");
  });
}

// A node that may not be read is listed as such, and is no failure.
TEST_CASE("refusals: a list of locks", "[refusals]") {
  play_every_refusal("children children children get", [](OrderScene& scene) {
    scene.world.make("/locks");
    scene.world.make("/locks/a");
    scene.world.make("/locks/a/" + mutex_name, "one");
    scene.begin();
    const auto outcome = scene.run<LockListing>(
        [&](auto done) { async_list_locks(scene.client, "/locks", ListOptions{}, done); });
    const LockListing& listing = outcome.result();
    if (listing.locks.empty() == listing.forbidden.empty()) {
      scene.complain("a lock is neither listed nor forbidden");
    }
  });
}

TEST_CASE("refusals: a request to release", "[refusals]") {
  play_every_refusal("set! set", [](OrderScene& scene) {
    scene.world.make("/lock");
    scene.world.make("/lock/" + mutex_name, "one");
    scene.begin();
    scene.run<bool>([&](auto done) { async_revoke(scene.client, "/lock/" + mutex_name, done); });
    if (scene.failed()) return;
    const auto absent = scene.run<bool>(
        [&](auto done) { async_revoke(scene.client, "/lock/lock-0000000007", done); });
    if (absent.result()) scene.complain("a node that is not there was asked");
  });
}

}  // namespace
}  // namespace custodian::tests::inspect_refusals_test
