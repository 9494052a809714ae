// What holders do with their leases, with each request refused in its turn for lack of permission.

#include "custodian/inspect/revoke.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/refusal_steps.hpp"
#include "scripted/refusal_waits.hpp"
#include "support/catch.hpp"

namespace custodian::tests::lease_refusals_test {
namespace {

/// The client's lease on /lock, from before the order begins.
Lease held(OrderScene& scene) {
  scene.world.make("/lock");
  InterProcessMutex mutex{scene.client, "/lock"};
  auto outcome = run<Lease>(scene.world, [&](auto done) { mutex.async_acquire(done); });
  return std::move(outcome.result());
}

TEST_CASE("refusals: a lease that is checked", "[refusals]") {
  play_every_refusal("multi! remove", [](OrderScene& scene) {
    const Lease lease = held(scene);
    scene.begin();
    scene.run<>([&](auto done) { lease.async_assert_held(done); });
    if (lease.state() != LeaseState::held) scene.complain("not held");
  });
}

TEST_CASE("refusals: a lease with a new identity", "[refusals]") {
  play_every_refusal("get! multi! remove", [](OrderScene& scene) {
    const Lease lease = held(scene);
    scene.begin();
    scene.run<>([&](auto done) { lease.async_set_identity("renamed", done); });
    if (lease.state() != LeaseState::held) scene.complain("not held");
  });
}

TEST_CASE("refusals: a revocable lease, and a request to release it", "[refusals]") {
  // A holder that may not read its node does not notice the request, and goes on.
  play_every_refusal("get! get! multi get remove", [](OrderScene& scene) {
    const Lease lease = held(scene);
    const OtherClient other{scene};
    scene.begin();
    bool asked = false;
    const Subscription listening = lease.make_revocable([&] { asked = true; });
    scene.world.settle();
    scene.run<bool>([&](auto done) { async_revoke(*other, lease.node(), done); });
    scene.world.run_until_idle(*other);
    scene.world.settle();
    if (!asked) scene.note(ServerErrc::no_auth);
    if (lease.state() != LeaseState::held) scene.complain("not held");
  });
}

}  // namespace
}  // namespace custodian::tests::lease_refusals_test
