// Double barriers and the phases of an InterProcessBarrier whose requests are refused, each in its
// turn, for lack of permission.

#include "custodian/barriers/distributed_double_barrier.hpp"
#include "custodian/barriers/inter_process_barrier.hpp"
#include "scripted/refusal_steps.hpp"
#include "support/catch.hpp"

namespace custodian::tests::party_refusals_test {
namespace {

// -- InterProcessBarrier --------------------------------------------------------------------------

TEST_CASE("refusals: a phase of one arrival", "[refusals]") {
  play_every_refusal("get! create! children! multi!", [](OrderScene& scene) {
    scene.world.make("/barrier");
    InterProcessBarrier barrier{scene.client, "/barrier", 1};
    scene.begin();
    scene.run<>([&](auto done) { barrier.async_arrive_and_wait(done); });
  });
}

TEST_CASE("refusals: a phase whose first arrival creates the barrier", "[refusals]") {
  play_every_refusal("get~ create~ create! create! get! create! children! multi!",
                     [](OrderScene& scene) {
                       InterProcessBarrier barrier{scene.client, "/a/barrier", 1};
                       scene.begin();
                       scene.run<>([&](auto done) { barrier.async_arrive_and_wait(done); });
                     });
}

TEST_CASE("refusals: a phase that another arrival ends", "[refusals]") {
  play_every_refusal("get! create! children! get!", [](OrderScene& scene) {
    scene.world.make("/barrier");
    InterProcessBarrier barrier{scene.client, "/barrier", 2};
    const OtherClient other{scene};
    InterProcessBarrier of_other{*other, "/barrier", 2};
    scene.begin();
    Outcome<> arrived;
    barrier.async_arrive_and_wait(arrived.handler());
    until_asleep(scene, arrived);
    if (arrived.arrived()) return end_of(scene, arrived);
    Outcome<> others;
    of_other.async_arrive_and_wait(others.handler());
    end_of(scene, arrived);
  });
}

TEST_CASE("refusals: a phase that is ended with another's arrival", "[refusals]") {
  play_every_refusal("get! create! children! multi!", [](OrderScene& scene) {
    scene.world.make("/barrier");
    InterProcessBarrier barrier{scene.client, "/barrier", 2};
    const OtherClient other{scene};
    InterProcessBarrier of_other{*other, "/barrier", 2};
    Outcome<> others;
    of_other.async_arrive_and_wait(others.handler());
    scene.wait_until([&] { return scene.world.ensemble.watches(other->session().id) == 1; });
    scene.world.settle();
    scene.begin();
    scene.run<>([&](auto done) { barrier.async_arrive_and_wait(done); });
  });
}

TEST_CASE("refusals: an arrival that is taken back", "[refusals]") {
  play_every_refusal("get! create! children! multi! get!", [](OrderScene& scene) {
    scene.world.make("/barrier");
    InterProcessBarrier barrier{scene.client, "/barrier", 2};
    scene.begin();
    GivenUp<> arrival{[&](auto done) { barrier.async_arrive_and_wait(std::move(done)); }};
    arrival.give_up(scene);
  });
}

// -- DistributedDoubleBarrier ---------------------------------------------------------------------

TEST_CASE("refusals: a party of one", "[refusals]") {
  play_every_refusal("create! exists~ children! multi! children! get! multi!",
                     [](OrderScene& scene) {
                       scene.world.make("/party");
                       DistributedDoubleBarrier member{scene.client, "/party", 1};
                       scene.begin();
                       scene.run<bool>([&](auto done) { member.async_enter(done); });
                       if (scene.failed()) return;
                       scene.run<bool>([&](auto done) { member.async_leave(done); });
                     });
}

TEST_CASE("refusals: a party whose first member creates the barrier", "[refusals]") {
  play_every_refusal("create~ create~ create! create! create! exists~ children! multi! remove",
                     [](OrderScene& scene) {
                       DistributedDoubleBarrier member{scene.client, "/a/party", 1};
                       scene.begin();
                       scene.run<bool>([&](auto done) { member.async_enter(done); });
                     });
}

// The nodes of the other members are made by hand, as another library makes them. Their names
// decide which member is the lowest.

/// Whatever has become of the order, its hand-made nodes are gone.
void clear(OrderScene& scene) {
  scene.world.remove("/party/0");
  scene.world.remove("/party/z");
  scene.world.remove("/party/ready");
}

/// Enters while this member and a ready node are there.
void enter_late(OrderScene& scene, DistributedDoubleBarrier& member, const std::string& other) {
  scene.world.make("/party");
  scene.world.make(other);
  scene.world.make("/party/ready");
  scene.begin();
  scene.run<bool>([&](auto done) { member.async_enter(done); });
}

TEST_CASE("refusals: a party that another member completes", "[refusals]") {
  play_every_refusal("create! exists~ children! get! remove", [](OrderScene& scene) {
    scene.world.make("/party");
    DistributedDoubleBarrier member{scene.client, "/party", 2};
    scene.begin();
    Outcome<bool> entered;
    member.async_enter(entered.handler());
    until_asleep(scene, entered);
    scene.world.make("/party/0");
    scene.world.make("/party/ready");
    end_of(scene, entered);
    clear(scene);
  });
}

TEST_CASE("refusals: a party whose lowest member is another", "[refusals]") {
  play_every_refusal("create! exists~ children! multi! children! get! multi! get! children!",
                     [](OrderScene& scene) {
                       scene.world.make("/party");
                       scene.world.make("/party/0");
                       DistributedDoubleBarrier member{scene.client, "/party", 2};
                       scene.begin();
                       scene.run<bool>([&](auto done) { member.async_enter(done); });
                       if (!scene.failed()) {
                         Outcome<bool> left;
                         member.async_leave(left.handler());
                         until_asleep(scene, left);
                         clear(scene);
                         end_of(scene, left);
                       }
                       clear(scene);
                     });
}

TEST_CASE("refusals: a party whose lowest member waits for another", "[refusals]") {
  play_every_refusal("create! exists~ children! multi! children! get! get! children! get! multi!",
                     [](OrderScene& scene) {
                       scene.world.make("/party");
                       scene.world.make("/party/z");
                       DistributedDoubleBarrier member{scene.client, "/party", 2};
                       scene.begin();
                       scene.run<bool>([&](auto done) { member.async_enter(done); });
                       if (!scene.failed()) {
                         Outcome<bool> left;
                         member.async_leave(left.handler());
                         until_asleep(scene, left);
                         scene.world.remove("/party/z");
                         end_of(scene, left);
                       }
                       clear(scene);
                     });
}

TEST_CASE("refusals: a party of another library that a member joins late", "[refusals]") {
  play_every_refusal("create! exists~ children! get! children! get! get! multi! remove",
                     [](OrderScene& scene) {
                       DistributedDoubleBarrier member{scene.client, "/party", 2};
                       enter_late(scene, member, "/party/0");
                       clear(scene);
                     });
}

TEST_CASE("refusals: a party that is over, whose ready node is left", "[refusals]") {
  play_every_refusal(
      "create! exists~ children! get! children! get! get! multi! exists~ children! multi! remove",
      [](OrderScene& scene) {
        scene.world.make("/party");
        scene.world.make("/party/ready");
        DistributedDoubleBarrier member{scene.client, "/party", 1};
        scene.begin();
        scene.run<bool>([&](auto done) { member.async_enter(done); });
        clear(scene);
      });
}

TEST_CASE("refusals: a party that a late member waits for", "[refusals]") {
  play_every_refusal(
      "create! exists~ children! get! children! get! children! get! multi! get! children! get! "
      "get~ create! exists~ children! multi! remove",
      [](OrderScene& scene) {
        scene.world.make("/party");
        scene.world.make("/party/0");
        scene.world.make("/party/ready", "members:\n0\n");
        DistributedDoubleBarrier member{scene.client, "/party", 1, Late::waits};
        scene.begin();
        Outcome<bool> entered;
        member.async_enter(entered.handler());
        until_asleep(scene, entered, 2);
        clear(scene);
        end_of(scene, entered);
        clear(scene);
      });
}

TEST_CASE("refusals: a member that goes away again", "[refusals]") {
  play_every_refusal("create! exists~ children! children! get~ multi!", [](OrderScene& scene) {
    scene.world.make("/party");
    DistributedDoubleBarrier member{scene.client, "/party", 2};
    scene.begin();
    GivenUp<bool> entry{[&](auto done) { member.async_enter(std::move(done)); }};
    entry.give_up(scene);
  });
}

}  // namespace
}  // namespace custodian::tests::party_refusals_test
