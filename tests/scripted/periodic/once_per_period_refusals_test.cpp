// Jobs that run once per period, and whose requests are refused, each in its turn, for lack of
// permission.

#include "custodian/periodic/once_per_period.hpp"
#include "scripted/refusal_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::once_per_period_refusals_test {
namespace {

using namespace std::chrono_literals;

/// Clears the job's record, so that a run is due.
void clear(OrderScene& scene) {
  scene.world.ensemble.remove_tree("/job");
  scene.world.make("/job");
  scene.world.make("/job/lock");
  scene.world.make("/job/clock");
}

Outcome<TurnResult> begin(OrderScene& scene, const OncePerPeriod& job) {
  return scene.run<TurnResult>([&](auto done) { job.async_try_begin(done); });
}

void end(OrderScene& scene, Turn& turn, RunEnd how = RunEnd::success()) {
  scene.run<>([&](auto done) { turn.async_end(how, done); });
}

TEST_CASE("refusals: a job's first run of all", "[refusals]") {
  play_every_refusal(
      "set~ create~ create~ create! create! create! get~ create~ children~ create! create! "
      "children! set! get~ multi! set! remove",
      [](OrderScene& scene) {
        scene.world.ensemble.remove_tree("/a");
        const OncePerPeriod job{scene.client, "/a/job", {.every = 1h}};
        scene.begin();
        const auto begun = begin(scene, job);
        if (scene.failed()) return;
        end(scene, begun.result().turn);
      });
}

TEST_CASE("refusals: a job that runs, and has run", "[refusals]") {
  play_every_refusal(
      "set! get~ create! children~ set! get~ multi! set! remove~ set! get! sync~ get!",
      [](OrderScene& scene) {
        clear(scene);
        const OncePerPeriod job{scene.client, "/job", {.every = 1h}};
        scene.begin();
        const auto begun = begin(scene, job);
        if (scene.failed()) return;
        end(scene, begun.result().turn);
        if (scene.failed()) return;
        const auto refused = begin(scene, job);
        if (scene.failed()) return;
        CHECK(refused.result().reason == NotDue::has_run);
        scene.run<std::optional<PeriodRun>>([&](auto done) { job.async_last_run({}, done); });
      });
}

TEST_CASE("refusals: a job that runs again after a failure", "[refusals]") {
  play_every_refusal(
      "set! get! create! children~ set! get! multi! set! remove", [](OrderScene& scene) {
        clear(scene);
        const OncePerPeriod job{
            scene.client, "/job", {.every = 1h, .after_failure = AfterFailure::retry}};
        for (int i = 0; i < 2; ++i) {
          const auto begun = begin(scene, job);
          if (scene.failed()) return;
          end(scene, begun.result().turn, RunEnd::failure());
          if (scene.failed()) return;
          if (i == 0) scene.begin();
        }
      });
}

TEST_CASE("refusals: a job without a record of a run", "[refusals]") {
  play_every_refusal("sync get", [](OrderScene& scene) {
    const OncePerPeriod job{scene.client, "/never", {.every = 1h}};
    scene.begin();
    scene.run<std::optional<PeriodRun>>([&](auto done) { job.async_last_run({}, done); });
  });
}

TEST_CASE("refusals: a job whose turn is dropped", "[refusals]") {
  play_every_refusal("set! get~ create! children~ set! get~ multi! remove", [](OrderScene& scene) {
    clear(scene);
    const OncePerPeriod job{scene.client, "/job", {.every = 1h}};
    scene.begin();
    begin(scene, job);
  });
}

}  // namespace
}  // namespace custodian::tests::once_per_period_refusals_test
