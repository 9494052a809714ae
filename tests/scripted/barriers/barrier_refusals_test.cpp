// Barriers and latches whose requests are refused, each in its turn, for lack of permission.

#include "custodian/barriers/count_down_latch.hpp"
#include "custodian/barriers/distributed_barrier.hpp"
#include "scripted/refusal_steps.hpp"
#include "support/catch.hpp"

namespace custodian::tests::barrier_refusals_test {
namespace {

// -- DistributedBarrier ---------------------------------------------------------------------------

TEST_CASE("refusals: a barrier that is set, looked at and removed", "[refusals]") {
  play_every_refusal("create! sync~ get! remove!", [](OrderScene& scene) {
    DistributedBarrier barrier{scene.client, "/barrier"};
    scene.begin();
    scene.run<>([&](auto done) { barrier.async_set(done); });
    scene.run<bool>([&](auto done) { barrier.async_is_set(done); });
    scene.run<>([&](auto done) { barrier.async_remove(done); });
  });
}

TEST_CASE("refusals: a barrier that is set below a missing node", "[refusals]") {
  play_every_refusal("create~ create! create!", [](OrderScene& scene) {
    DistributedBarrier barrier{scene.client, "/a/barrier"};
    scene.begin();
    scene.run<>([&](auto done) { barrier.async_set(done); });
  });
}

TEST_CASE("refusals: a barrier that opens during a wait", "[refusals]") {
  play_every_refusal("sync~ get!", [](OrderScene& scene) {
    scene.world.make("/barrier");
    const DistributedBarrier barrier{scene.client, "/barrier"};
    scene.begin();
    Outcome<> waited;
    barrier.async_wait(waited.handler());
    until_asleep(scene, waited);
    scene.world.remove("/barrier");
    end_of(scene, waited);
  });
}

TEST_CASE("refusals: a barrier that nobody waits for any more", "[refusals]") {
  play_every_refusal("sync~ get! sync~ get!", [](OrderScene& scene) {
    scene.world.make("/barrier");
    const DistributedBarrier barrier{scene.client, "/barrier"};
    scene.begin();
    GivenUp<> wait{[&](auto done) { barrier.async_wait(std::move(done)); }};
    wait.give_up(scene);
    const auto now = Deadline::Clock::now();
    scene.run<bool>([&](auto done) { barrier.async_wait_until(Deadline{now}, done); });
    scene.world.remove("/barrier");
  });
}

// -- CountDownLatch -------------------------------------------------------------------------------

TEST_CASE("refusals: a latch that is counted down and read", "[refusals]") {
  play_every_refusal("get! multi! children! exists exists", [](OrderScene& scene) {
    scene.world.make("/latch", "10");
    CountDownLatch latch{scene.client, "/latch", 10};
    scene.begin();
    scene.run<>([&](auto done) { latch.async_count_down(2, done); });
    scene.run<std::int32_t>([&](auto done) { latch.async_count(done); });
    scene.run<bool>([&](auto done) { latch.async_try_wait(done); });
    scene.run<bool>([&](auto done) { latch.async_wait_for(brief_limit * 0, done); });
  });
}

TEST_CASE("refusals: a latch whose first arrival creates it", "[refusals]") {
  play_every_refusal("get~ create~ create! create! get! multi!", [](OrderScene& scene) {
    CountDownLatch latch{scene.client, "/a/latch", 10};
    scene.begin();
    scene.run<>([&](auto done) { latch.async_count_down(done); });
  });
}

TEST_CASE("refusals: a latch with a node that is no arrival", "[refusals]") {
  play_every_refusal("get! multi~ children! multi!", [](OrderScene& scene) {
    scene.world.make("/latch", "10");
    scene.world.make("/latch/notes");
    CountDownLatch latch{scene.client, "/latch", 10};
    scene.begin();
    scene.run<>([&](auto done) { latch.async_count_down(done); });
  });
}

TEST_CASE("refusals: a latch that is open already", "[refusals]") {
  play_every_refusal("get! children! get! exists~ get! children! exists", [](OrderScene& scene) {
    scene.world.make("/latch", "1");
    scene.world.make("/latch/0000000000");
    CountDownLatch latch{scene.client, "/latch", 1};
    scene.begin();
    scene.run<>([&](auto done) { latch.async_count_down(done); });
    scene.run<>([&](auto done) { latch.async_wait(done); });
    scene.run<>([&](auto done) { latch.async_arrive_and_wait(done); });
  });
}

TEST_CASE("refusals: a latch that expects nobody", "[refusals]") {
  play_every_refusal("get! get!", [](OrderScene& scene) {
    scene.world.make("/latch", "0");
    CountDownLatch latch{scene.client, "/latch", 0};
    scene.begin();
    scene.run<>([&](auto done) { latch.async_wait(done); });
    scene.run<bool>([&](auto done) { latch.async_try_wait(done); });
    scene.run<>([&](auto done) { latch.async_arrive_and_wait(0, done); });
  });
}

TEST_CASE("refusals: a latch that opens during a wait", "[refusals]") {
  play_every_refusal("get~ create! get! multi! exists", [](OrderScene& scene) {
    CountDownLatch latch{scene.client, "/latch", 2};
    const OtherClient other{scene};
    CountDownLatch of_other{*other, "/latch", 2};
    scene.begin();
    Outcome<> waited;
    latch.async_arrive_and_wait(waited.handler());
    until_asleep(scene, waited);
    scene.run<>([&](auto done) { of_other.async_count_down(2, done); });
    end_of(scene, waited);
  });
}

TEST_CASE("refusals: a latch that nobody waits for any more", "[refusals]") {
  play_every_refusal("get! exists~ get! multi! exists", [](OrderScene& scene) {
    scene.world.make("/latch", "20");
    CountDownLatch latch{scene.client, "/latch", 20};
    scene.begin();
    GivenUp<> wait{[&](auto done) { latch.async_wait(std::move(done)); }};
    wait.give_up(scene);
    if (scene.failed()) return;
    GivenUp<> arrival{[&](auto done) { latch.async_arrive_and_wait(std::move(done)); }};
    arrival.give_up(scene);
  });
}

TEST_CASE("refusals: a latch that is removed", "[refusals]") {
  play_every_refusal("remove! children! remove! remove!", [](OrderScene& scene) {
    scene.world.make("/latch", "2");
    scene.world.make("/latch/0000000000");
    CountDownLatch latch{scene.client, "/latch", 2};
    scene.begin();
    scene.run<>([&](auto done) { latch.async_remove(done); });
  });
}

}  // namespace
}  // namespace custodian::tests::barrier_refusals_test
