// Elections whose requests are refused, each in its turn, for lack of permission.

#include "custodian/leader/leader_latch.hpp"
#include "custodian/leader/leader_observer.hpp"
#include "custodian/leader/leader_selector.hpp"
#include "scripted/refusal_waits.hpp"
#include "support/catch.hpp"

namespace custodian::tests::leader_refusals_test {
namespace {

constexpr auto path = "/election";

/// The options of a candidate whose failures fail the order.
CandidateOptions candidate(OrderScene& scene) {
  CandidateOptions options;
  options.on_error = [&scene](error_code error) { scene.note(error); };
  return options;
}

/// Stands for election until the latch leads. A candidate that fails tries again.
void lead(OrderScene& scene, LeaderLatch& latch) {
  latch.start();
  if (!scene.wait_until([&] { return latch.has_leadership(); })) scene.complain("it never leads");
}

TEST_CASE("refusals: a latch that is alone", "[refusals]") {
  play_every_refusal(
      "create! children get remove",
      [](OrderScene& scene) {
        scene.world.make(path);
        LeaderLatch latch{scene.client, path, candidate(scene)};
        scene.begin();
        lead(scene, latch);
        latch.close();
      },
      LastingRefusal::is_left_out);
}

TEST_CASE("refusals: the first latch of all, which creates the election's node", "[refusals]") {
  play_every_refusal(
      "create children create! create! children! get remove",
      [](OrderScene& scene) {
        LeaderLatch latch{scene.client, path, candidate(scene)};
        scene.begin();
        lead(scene, latch);
      },
      LastingRefusal::is_left_out);
}

TEST_CASE("refusals: a latch behind another client's leader, which leaves", "[refusals]") {
  play_every_refusal(
      "create! children get! get! remove",
      [](OrderScene& scene) {
        auto other = scene.world.client("other");
        {
          LeaderLatch leading{*other, path};
          leading.start();
          scene.world.run_until([&] { return leading.has_leadership(); });
          LeaderLatch latch{scene.client, path, candidate(scene)};
          scene.begin();
          latch.start();
          // The latch watches its own node and the leader's; the leader watches its own.
          scene.wait_until([&] { return scene.world.ensemble.watches() >= 3; });
          leading.close();
          if (!scene.wait_until([&] { return latch.has_leadership(); })) {
            scene.complain("it never leads");
          }
        }
        scene.world.end(other);
      },
      LastingRefusal::is_left_out);
}

TEST_CASE("refusals: a selector's turn", "[refusals]") {
  play_every_refusal(
      "create! children get remove",
      [](OrderScene& scene) {
        scene.world.make(path);
        int turns = 0;
        LeaderSelectorOptions options;
        options.candidate = candidate(scene);
        options.executor = scene.world.context.get_executor();
        LeaderSelector selector{scene.client, path, [&](const Lease&, std::stop_token) { ++turns; },
                                std::move(options)};
        scene.begin();
        selector.start();
        if (!scene.wait_until([&] { return turns == 1; })) scene.complain("it has no turn");
        selector.close();
        scene.run<>([&](auto done) { selector.async_join(done); });
      },
      LastingRefusal::is_left_out);
}

// -- What looks at an election --------------------------------------------------------------------

/// The leader of another client, which was elected before the order begins.
struct OtherLeader {
  explicit OtherLeader(OrderScene& its_scene) : scene{its_scene} {
    latch.emplace(*client, path);
    latch->start();
    scene.world.run_until([&] { return latch->has_leadership(); });
  }
  ~OtherLeader() {
    latch.reset();
    if (!scene.world.end(client)) scene.complain("something keeps the other client alive");
  }
  OtherLeader(const OtherLeader&) = delete;
  OtherLeader& operator=(const OtherLeader&) = delete;

  OrderScene& scene;
  std::unique_ptr<Client> client = scene.world.client("other");
  std::optional<LeaderLatch> latch;
};

TEST_CASE("refusals: the leader, and the participants, of an election", "[refusals]") {
  play_every_refusal("children! get! children! get!", [](OrderScene& scene) {
    OtherLeader other{scene};
    LeaderLatch latch{scene.client, path};
    scene.begin();
    const auto leader =
        scene.run<std::optional<Participant>>([&](auto done) { latch.async_leader({}, done); });
    if (!scene.failed() && leader.result()->identity != "other") scene.complain("another leader");
    scene.run<std::vector<Participant>>([&](auto done) { latch.async_participants({}, done); });
  });
}

TEST_CASE("refusals: the leader of an election without candidates", "[refusals]") {
  play_every_refusal("children! sync~ children!", [](OrderScene& scene) {
    scene.world.make(path);
    LeaderObserver observer{scene.client, path};
    scene.begin();
    const auto leader =
        scene.run<std::optional<Participant>>([&](auto done) { observer.async_leader({}, done); });
    if (!scene.failed() && leader.result()) scene.complain("a leader");
  });
}

TEST_CASE("refusals: the leader of an election that nobody has begun", "[refusals]") {
  play_every_refusal("children sync children", [](OrderScene& scene) {
    LeaderObserver observer{scene.client, path};
    scene.begin();
    const auto leader =
        scene.run<std::optional<Participant>>([&](auto done) { observer.async_leader({}, done); });
    if (!scene.failed() && leader.result()) scene.complain("a leader");
  });
}

TEST_CASE("refusals: an observer that sees a leader, and its end", "[refusals]") {
  play_every_refusal(
      "children! get! children! get! children! sync~ children!", [](OrderScene& scene) {
        OtherLeader other{scene};
        LeaderObserver observer{scene.client, path};
        scene.begin();
        const auto first =
            scene.run<std::optional<Participant>>([&](auto done) { observer.async_next(done); });
        if (scene.failed()) return;
        if (!first.result()) scene.complain("no leader");
        // The leader and the observer watch the leader's node.
        const auto second = run_meanwhile<std::optional<Participant>>(
            scene, [&](auto done) { observer.async_next(done); },
            [&] { return scene.world.ensemble.watches() >= 2; }, [&] { other.latch->close(); });
        if (!scene.failed() && second.result()) scene.complain("a leader after its end");
      });
}

TEST_CASE("refusals: an observer of an election that nobody has begun, and its first leader",
          "[refusals]") {
  play_every_refusal(
      "children~ sync~ children~ exists~ children~ sync~ children~ exists~ children! sync~ "
      "children! children! get!",
      [](OrderScene& scene) {
        LeaderObserver observer{scene.client, path};
        scene.begin();
        const auto nobody =
            scene.run<std::optional<Participant>>([&](auto done) { observer.async_next(done); });
        if (scene.failed()) return;
        if (nobody.result()) scene.complain("a leader");
        std::optional<OtherLeader> other;
        const auto first = run_meanwhile<std::optional<Participant>>(
            scene, [&](auto done) { observer.async_next(done); },
            [&] { return scene.world.ensemble.watches() >= 1; }, [&] { other.emplace(scene); });
        if (!scene.failed() && !first.result()) scene.complain("no leader");
        other.reset();
        scene.world.remove(path);
      });
}

}  // namespace
}  // namespace custodian::tests::leader_refusals_test
