// Distributed atomics whose requests are refused, each in its turn, for lack of permission.

#include "custodian/atomics/cached_atomic_long.hpp"
#include "custodian/atomics/distributed_atomic_integer.hpp"
#include "custodian/atomics/distributed_atomic_long.hpp"
#include "custodian/atomics/distributed_atomic_value.hpp"
#include "custodian/atomics/rate_limiter.hpp"
#include "scripted/refusal_steps.hpp"
#include "support/catch.hpp"

namespace custodian::tests::atomic_refusals_test {
namespace {

using namespace std::chrono_literals;

const std::string zero(8, '\0');

void add(OrderScene& scene, DistributedAtomicLong& number) {
  scene.run<Updated<std::int64_t>>([&](auto done) { number.async_fetch_add(1, done); });
}

void set_zero(OrderScene& scene) {
  scene.world.ensemble.operate(request::Set{"/number", zero, any_version});
}

TEST_CASE("refusals: an atomic value that is read and written", "[refusals]") {
  play_every_refusal("get! set! get! set!", [](OrderScene& scene) {
    scene.world.make("/value");
    DistributedAtomicValue value{scene.client, "/value"};
    scene.begin();
    scene.run<Versioned<std::string>>([&](auto done) { value.async_load(done); });
    scene.run<>([&](auto done) { value.async_store("new", done); });
    scene.run<Updated<std::string>>([&](auto done) { value.async_exchange("newer", done); });
  });
}

TEST_CASE("refusals: an atomic value that does not exist", "[refusals]") {
  play_every_refusal("get~ set~ create~ create! create! set!", [](OrderScene& scene) {
    DistributedAtomicValue value{scene.client, "/a/value"};
    scene.begin();
    scene.run<Versioned<std::string>>([&](auto done) { value.async_load(done); });
    scene.run<>([&](auto done) { value.async_store("new", done); });
    scene.world.ensemble.remove_tree("/a");
  });
}

TEST_CASE("refusals: an atomic number whose first update creates it", "[refusals]") {
  play_every_refusal("get~ create~ create! create! get! set!", [](OrderScene& scene) {
    DistributedAtomicLong number{scene.client, "/a/number"};
    scene.begin();
    add(scene, number);
  });
}

TEST_CASE("refusals: an atomic number that is updated several times", "[refusals]") {
  play_every_refusal("get! set! children~ get! set! set!", [](OrderScene& scene) {
    scene.world.make("/number", zero);
    DistributedAtomicLong number{scene.client, "/number"};
    scene.begin();
    for (int i = 0; i < 3; ++i) add(scene, number);
  });
}

TEST_CASE("refusals: an atomic number that another client writes in between", "[refusals]") {
  play_every_refusal("get! set! children~ get! set! set! get! set!", [](OrderScene& scene) {
    scene.world.make("/number", zero);
    DistributedAtomicLong number{scene.client, "/number"};
    scene.begin();
    for (int i = 0; i < 3; ++i) {
      add(scene, number);
      set_zero(scene);
    }
  });
}

TEST_CASE("refusals: an atomic number that stays as it is", "[refusals]") {
  play_every_refusal("get! get!", [](OrderScene& scene) {
    scene.world.make("/number", zero);
    DistributedAtomicLong number{scene.client, "/number"};
    scene.begin();
    scene.run<Updated<std::int64_t>>([&](auto done) { number.async_fetch_max(-1, done); });
    scene.run<Updated<std::int64_t>>([&](auto done) { number.async_compare_exchange(7, 8, done); });
  });
}

TEST_CASE("refusals: an atomic number that is exchanged by its version", "[refusals]") {
  play_every_refusal("get! set! set! children~ get!", [](OrderScene& scene) {
    scene.world.make("/number", zero);
    DistributedAtomicLong number{scene.client, "/number"};
    scene.begin();
    const auto seen =
        scene.run<Versioned<std::int64_t>>([&](auto done) { number.async_load(done); });
    if (scene.failed()) return;
    for (const bool is_written : {true, false}) {
      const auto exchanged = scene.run<Updated<std::int64_t>>(
          [&](auto done) { number.async_compare_exchange(seen.result(), 5, done); });
      if (scene.failed()) return;
      CHECK(exchanged.result().written == is_written);
    }
  });
}

TEST_CASE("refusals: an atomic number whose updates are exactly once", "[refusals]") {
  play_every_refusal("create! get! multi! multi! multi! multi! remove", [](OrderScene& scene) {
    scene.world.make("/number", zero);
    DistributedAtomicLong number{scene.client, "/number", {.settle = Settle::exactly_once}};
    scene.begin();
    for (int i = 0; i < 3; ++i) add(scene, number);
    scene.run<>([&](auto done) { number.async_store(3, done); });
  });
}

TEST_CASE("refusals: an atomic number with a witness, whose first update creates it",
          "[refusals]") {
  play_every_refusal(
      "create~ create~ create! create! create! get! multi! remove", [](OrderScene& scene) {
        DistributedAtomicLong number{scene.client, "/a/number", {.settle = Settle::exactly_once}};
        scene.begin();
        add(scene, number);
      });
}

TEST_CASE("refusals: an atomic number whose lock is acquired at once", "[refusals]") {
  play_every_refusal(
      "create! children~ get! multi! remove~ create! children~ children~ get! multi! remove",
      [](OrderScene& scene) {
        scene.world.make("/number", zero);
        scene.world.make("/lock");
        DistributedAtomicLong number{
            scene.client,
            "/number",
            {.promoted = PromotedToLock{.path = "/lock", .after_tries = 0}}};
        scene.begin();
        for (int i = 0; i < 2; ++i) add(scene, number);
      });
}

TEST_CASE("refusals: an atomic number that is initialized", "[refusals]") {
  for (const Settle settle : {Settle::left_to_caller, Settle::exactly_once}) {
    const bool is_plain = settle == Settle::left_to_caller;
    play_every_refusal(
        is_plain ? "create~ create! create! create!" : "multi~ create! multi! multi! remove",
        [settle](OrderScene& scene) {
          DistributedAtomicLong number{scene.client, "/a/number", {.settle = settle}};
          scene.begin();
          scene.run<bool>([&](auto done) { number.async_initialize(5, done); });
          if (scene.failed()) return;
          const auto second = scene.run<bool>([&](auto done) { number.async_initialize(6, done); });
          if (!scene.failed()) CHECK_FALSE(second.result());
        });
  }
}

TEST_CASE("refusals: a cache of numbers", "[refusals]") {
  play_every_refusal("get! set! children~ get~ set~", [](OrderScene& scene) {
    scene.world.make("/number", zero);
    const DistributedAtomicLong number{scene.client, "/number"};
    CachedAtomicLong cache{number, {.chunk = 2, .prefetch_at = 0}};
    scene.begin();
    for (int i = 0; i < 3; ++i) {
      scene.run<std::int64_t>([&](auto done) { cache.async_next(done); });
    }
  });
}

TEST_CASE("refusals: a rate limiter", "[refusals]") {
  play_every_refusal("get! set! children~ get! set!", [](OrderScene& scene) {
    scene.world.make("/rate");
    RateLimiter limiter{
        scene.client, "/rate", {.permits_per_second = 1'000'000, .burst = 1s, .chunk = 1us}};
    scene.begin();
    scene.run<>([&](auto done) { limiter.async_acquire(10, done); });
    scene.run<bool>([&](auto done) { limiter.async_try_acquire_for(10, Deadline{1h}, done); });
  });
}

TEST_CASE("refusals: a rate limiter whose permits are due tomorrow", "[refusals]") {
  play_every_refusal("get! set!", [](OrderScene& scene) {
    scene.world.make("/rate");
    RateLimiter limiter{
        scene.client, "/rate", {.permits_per_second = 1.0 / 86'400, .burst = 0s, .chunk = 1us}};
    scene.begin();
    scene.run<bool>([&](auto done) { limiter.async_try_acquire(done); });
  });
}

}  // namespace
}  // namespace custodian::tests::atomic_refusals_test
