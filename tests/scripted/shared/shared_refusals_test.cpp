// Shared values whose requests are refused, each in its turn, for lack of permission.

#include "custodian/shared/shared_count.hpp"
#include "custodian/shared/shared_value.hpp"
#include "scripted/refusal_steps.hpp"
#include "support/catch.hpp"

namespace custodian::tests::shared_refusals_test {
namespace {

using Value = Versioned<std::string>;

void load(OrderScene& scene, const SharedValue& value) {
  scene.run<Value>([&](auto done) { value.async_load(done); });
}

TEST_CASE("refusals: a shared value that is read and written", "[refusals]") {
  play_every_refusal("get! set!", [](OrderScene& scene) {
    scene.world.make("/value", "old");
    SharedValue value{scene.client, "/value"};
    scene.begin();
    load(scene, value);
    scene.run<>([&](auto done) { value.async_store("new", done); });
  });
}

TEST_CASE("refusals: a shared value whose first read creates it", "[refusals]") {
  play_every_refusal("get~ create~ create! create! get!", [](OrderScene& scene) {
    const SharedValue value{scene.client, "/a/value", "seed"};
    scene.begin();
    load(scene, value);
  });
}

TEST_CASE("refusals: a shared value whose first write creates it", "[refusals]") {
  play_every_refusal("set~ create~ create! create! set!", [](OrderScene& scene) {
    SharedValue value{scene.client, "/a/value", "seed"};
    scene.begin();
    scene.run<>([&](auto done) { value.async_store("new", done); });
  });
}

TEST_CASE("refusals: a shared value that is exchanged, and then not", "[refusals]") {
  play_every_refusal("get! set! set! get!", [](OrderScene& scene) {
    scene.world.make("/value", "old");
    SharedValue value{scene.client, "/value"};
    scene.begin();
    const auto seen = scene.run<Value>([&](auto done) { value.async_load(done); });
    if (scene.failed()) return;
    for (const bool is_written : {true, false}) {
      const auto exchanged = scene.run<bool, Value>(
          [&](auto done) { value.async_compare_exchange(seen.result(), "new", done); });
      if (scene.failed()) return;
      CHECK(exchanged.result() == is_written);
      CHECK(exchanged.result<2>().value == "new");
    }
  });
}

TEST_CASE("refusals: a shared value that somebody waits for", "[refusals]") {
  play_every_refusal("get! get! get!", [](OrderScene& scene) {
    scene.world.make("/count", std::string(4, '\0'));
    const SharedCount count{scene.client, "/count"};
    scene.begin();
    const auto seen =
        scene.run<Versioned<std::int32_t>>([&](auto done) { count.async_load(done); });
    if (scene.failed()) return;
    Outcome<Versioned<std::int32_t>> newer;
    count.async_wait(seen.result(), newer.handler());
    until_asleep(scene, newer);
    scene.world.ensemble.operate(request::Set{"/count", std::string(4, '\1'), any_version});
    end_of(scene, newer);
  });
}

TEST_CASE("refusals: a shared value with a listener, which tries again", "[refusals]") {
  play_every_refusal(
      "get get",
      [](OrderScene& scene) {
        scene.world.make("/value", "old");
        const SharedValue value{scene.client, "/value"};
        std::string seen;
        scene.begin();
        const Subscription listening = value.on_change([&](const Value& now) { seen = now.value; });
        scene.wait_until([&] { return !seen.empty(); });
        scene.world.ensemble.operate(request::Set{"/value", "new", any_version});
        scene.wait_until([&] { return seen == "new"; });
      },
      LastingRefusal::is_left_out);
}

}  // namespace
}  // namespace custodian::tests::shared_refusals_test
