// Maps of ensembles whose requests are refused, each in its turn, for lack of permission.

#include "custodian/ensembles/ensemble_map.hpp"
#include "custodian/ensembles/moving_map.hpp"
#include "custodian/ensembles/moving_mutex.hpp"
#include "custodian/locks/striped_mutex.hpp"
#include "scripted/refusal_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::ensemble_refusals_test {
namespace {

using namespace std::chrono_literals;

constexpr LastingRefusal left_out = LastingRefusal::is_left_out;
constexpr auto copy_path = "/custodian/map";

const MovingMapOptions quick{.announce_within = 1ms, .look_every = 1ms};
const EnsembleLayout layout{.ensembles = {{"east", 1}}};

void clear(const OrderScene& scene, const std::string& path) {
  if (scene.world.ensemble.exists(path)) scene.world.ensemble.remove_tree(path);
}

void verify(OrderScene& scene) {
  const EnsembleMap map{layout, {{"east", scene.client}}};
  const auto outcome =
      scene.run<MapVerdict>([&](auto done) { map.async_verify("/maps/mine", done); });
  if (scene.failed() == outcome.result().ensemble.empty()) {
    scene.complain("the verdict does not name the ensemble, or names one without an error");
  }
}

TEST_CASE("refusals: a layout is written by the first process that verifies it", "[refusals]") {
  play_every_refusal("sync~ get~ create~ create! create!", [](OrderScene& scene) {
    clear(scene, "/maps");
    scene.begin();
    verify(scene);
  });
}

TEST_CASE("refusals: a layout is verified", "[refusals]") {
  play_every_refusal("sync~ get!", [](OrderScene& scene) {
    scene.world.make("/maps");
    scene.world.make("/maps/mine", layout.text());
    scene.begin();
    verify(scene);
  });
}

// -- Moving maps ----------------------------------------------------------------------------------

/// Another process, which has published a map.
void publish(OrderScene& scene) {
  auto other = scene.world.client("other");
  {
    MovingMap map{{{"east", *other}}, quick};
    const auto moved = run<>(scene.world, [&](auto done) { map.async_move_to(layout, done); });
    if (!moved.arrived() || moved.error()) scene.complain("the other process publishes no map");
  }
  if (!scene.world.run_until_idle(*other)) scene.complain("the other process is not idle");
  scene.world.end(other);
}

TEST_CASE("refusals: a moving map is published first of all", "[refusals]") {
  play_every_refusal(
      "get get exists multi create! multi! get get!",
      [](OrderScene& scene) {
        clear(scene, "/custodian");
        scene.begin();
        MovingMap map{{{"east", scene.client}}, quick};
        scene.run<>([&](auto done) { map.async_move_to(layout, done); });
      },
      left_out);
}

TEST_CASE("refusals: a moving map is published where its parent is", "[refusals]") {
  play_every_refusal(
      "get get exists multi! get get!",
      [](OrderScene& scene) {
        clear(scene, "/custodian");
        scene.world.make("/custodian");
        scene.begin();
        MovingMap map{{{"east", scene.client}}, quick};
        scene.run<>([&](auto done) { map.async_move_to(layout, done); });
      },
      left_out);
}

TEST_CASE("refusals: a moving map moves on", "[refusals]") {
  play_every_refusal(
      "get! children! create! set! get get! children! exists create! set! get remove remove remove "
      "get! create! set! get get!",
      [](OrderScene& scene) {
        clear(scene, "/custodian");
        publish(scene);
        MovingMap map{{{"east", scene.client}}, quick};
        scene.wait_until([&] { return map.version() > 0; });
        scene.begin();
        EnsembleLayout next = layout;
        next.depth = 1;
        scene.run<>([&](auto done) { map.async_move_to(next, done); });
      },
      left_out);
}

TEST_CASE("refusals: a moving mutex", "[refusals]") {
  play_every_refusal("get! multi! create! children~ remove remove", [](OrderScene& scene) {
    if (!scene.world.ensemble.exists(copy_path)) publish(scene);
    scene.world.make("/lock");
    MovingMap map{{{"east", scene.client}}, quick};
    scene.wait_until([&] { return map.version() > 0; });
    scene.begin();
    MovingMutex mutex{map, "/lock"};
    scene.run<MovingAcquireResult>([&](auto done) { mutex.async_try_acquire(done); });
  });
}

TEST_CASE("refusals: a moving mutex that is waited for", "[refusals]") {
  play_every_refusal(
      "get! multi! create! children~ get! get! remove remove", [](OrderScene& scene) {
        if (!scene.world.ensemble.exists(copy_path)) publish(scene);
        scene.world.make("/lock");
        auto other = scene.world.client("other");
        const auto held = run<Created>(scene.world, [&](auto done) {
          other->async_create("/lock/lock-", "other", {.mode = CreateMode::ephemeral_sequential},
                              done);
        });
        if (held.error()) scene.complain("the other client does not hold the lock");
        MovingMap map{{{"east", scene.client}}, quick};
        scene.wait_until([&] { return map.version() > 0; });
        scene.begin();
        MovingMutex mutex{map, "/lock"};
        Outcome<MovingLease> outcome;
        mutex.async_acquire(outcome.handler());
        scene.wait_until(
            [&] { return outcome.arrived() || scene.world.ensemble.children("/lock").size() > 1; });
        scene.world.end(other);
        if (!scene.wait_until([&] { return outcome.arrived(); })) {
          scene.complain("the acquire does not end");
        } else {
          scene.note(outcome.error());
        }
      });
}

}  // namespace
}  // namespace custodian::tests::ensemble_refusals_test
