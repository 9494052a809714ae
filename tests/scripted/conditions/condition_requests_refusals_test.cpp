// Conditions whose requests are refused, each in its turn, for lack of permission.

#include "custodian/conditions/inter_process_condition.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/refusal_steps.hpp"
#include "support/catch.hpp"

namespace custodian::tests::condition_requests_refusals_test {
namespace {

constexpr auto path = "/changed";
const std::string waiter_in_front =
    "/changed/_c_00000000-0000-4000-8000-000000000001-wait-0000000000";
const std::string signal_left =
    "/changed/sig-_c_00000000-0000-4000-8000-000000000000-wait-0000000000";

/// A client's lock and condition.
struct Pair {
  explicit Pair(const Client& client) : mutex{client, "/lock"}, condition{mutex, path} {}

  [[nodiscard]] Lease acquire(OrderScene& scene) {
    auto acquired = scene.run<Lease>([&](auto done) { mutex.async_acquire(std::move(done)); });
    return std::move(acquired.result());
  }

  InterProcessMutex mutex;
  InterProcessCondition condition;
};

void prepare(OrderScene& scene) {
  scene.world.make("/lock");
  scene.world.make(path);
}

/// Begins a wait with the lock held. The requests of the wait are refused from here on.
Outcome<Woken> begin_wait(OrderScene& scene, Pair& pair, Deadline until = Deadline::never()) {
  Lease lease = pair.acquire(scene);
  scene.begin();
  Outcome<Woken> woken;
  pair.condition.async_wait_until(std::move(lease), until, woken.handler());
  return woken;
}

/// Signals one waiter, or none if there is none.
void signal(OrderScene& scene, Pair& pair) {
  const Lease lease = pair.acquire(scene);
  scene.run<std::size_t>([&](auto done) { pair.condition.async_signal(lease, {}, done); });
}

TEST_CASE("refusals: a waiter at a condition that another client signals", "[refusals]") {
  play_every_refusal(
      "create! children! get! children! remove~ create! children~ get! get! multi! remove",
      [](OrderScene& scene) {
        prepare(scene);
        Pair pair{scene.client};
        const OtherClient other{scene};
        Pair of_other{*other};
        const auto woken = begin_wait(scene, pair);
        until_asleep(scene, woken);
        if (!woken.arrived()) signal(scene, of_other);
        end_of(scene, woken);
      });
}

TEST_CASE("refusals: a waiter whose time is over", "[refusals]") {
  play_every_refusal(
      "create! children! get! children! remove~ create! children~ multi! remove remove",
      [](OrderScene& scene) {
        prepare(scene);
        Pair pair{scene.client};
        const auto woken = begin_wait(scene, pair, Deadline{brief_limit});
        end_of(scene, woken);
      });
}

TEST_CASE("refusals: a waiter that creates the condition's node", "[refusals]") {
  play_every_refusal(
      "create~ create! create! children! get! children! remove~ create! children~ multi! remove "
      "remove",
      [](OrderScene& scene) {
        scene.world.make("/lock");
        Pair pair{scene.client};
        const auto woken = begin_wait(scene, pair, Deadline{brief_limit});
        end_of(scene, woken);
      });
}

TEST_CASE("refusals: a waiter that finds a signal of former times", "[refusals]") {
  play_every_refusal(
      "create! children! multi! get! children! remove~ create! children~ multi! remove remove",
      [](OrderScene& scene) {
        prepare(scene);
        scene.world.make(signal_left);
        Pair pair{scene.client};
        const auto woken = begin_wait(scene, pair, Deadline{brief_limit});
        end_of(scene, woken);
      });
}

TEST_CASE("refusals: a waiter behind another that goes away", "[refusals]") {
  play_every_refusal(
      "create! children! get! children! children! remove~ children! create! children~ get! get! "
      "multi! remove",
      [](OrderScene& scene) {
        prepare(scene);
        scene.world.make(waiter_in_front);
        scene.world.ensemble.set_next_sequence(path, 7);
        Pair pair{scene.client};
        const OtherClient other{scene};
        Pair of_other{*other};
        const auto woken = begin_wait(scene, pair);
        until_asleep(scene, woken, 2);
        scene.world.remove(waiter_in_front);
        scene.world.settle();
        until_asleep(scene, woken);
        if (!woken.arrived()) signal(scene, of_other);
        end_of(scene, woken);
      });
}

TEST_CASE("refusals: a waiter that passes a signal on to another", "[refusals]") {
  play_every_refusal(
      "create! children! multi! children! get! children! children! remove~ create! children~ "
      "multi! remove remove",
      [](OrderScene& scene) {
        prepare(scene);
        scene.world.make(signal_left);
        scene.world.make(waiter_in_front);
        scene.world.ensemble.set_next_sequence(path, 7);
        Pair pair{scene.client};
        const auto woken = begin_wait(scene, pair, Deadline{brief_limit});
        end_of(scene, woken);
        scene.world.ensemble.remove_tree(path);
      });
}

TEST_CASE("refusals: a signal to one waiter, and to all", "[refusals]") {
  play_every_refusal("children! multi! children! remove", [](OrderScene& scene) {
    prepare(scene);
    Pair pair{scene.client};
    const OtherClient other{scene};
    Pair of_other{*other};
    Outcome<Woken> woken;
    of_other.condition.async_wait(of_other.acquire(scene), woken.handler());
    scene.wait_until([&] { return scene.world.ensemble.watches(other->session().id) == 1; });
    const Lease lease = pair.acquire(scene);
    scene.begin();
    scene.run<std::size_t>([&](auto done) { pair.condition.async_signal(lease, {}, done); });
    scene.run<std::size_t>([&](auto done) { pair.condition.async_signal_all(lease, {}, done); });
  });
}

}  // namespace
}  // namespace custodian::tests::condition_requests_refusals_test
