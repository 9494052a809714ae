// Sets of locks whose requests are refused, each in its turn, for lack of permission.

#include <array>

#include "custodian/lock_sets/custom_lock.hpp"
#include "custodian/lock_sets/inter_process_multi_lock.hpp"
#include "custodian/lock_sets/quorum_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/striped_mutex.hpp"
#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"
#include "scripted/refusal_waits.hpp"
#include "support/catch.hpp"

namespace custodian::tests::lock_set_refusals_test {
namespace {

using namespace std::chrono_literals;

constexpr auto acquire_b = [](const Client& client, auto done) {
  InterProcessMutex{client, "/b"}.async_acquire(done);
};

InterProcessMultiLock a_and_b(const Client& client) {
  return InterProcessMultiLock{{InterProcessMutex{client, "/a"}, InterProcessMutex{client, "/b"}}};
}

TEST_CASE("refusals: two locks that nobody holds", "[refusals]") {
  play_every_refusal("create! children~ create! children~ remove remove", [](OrderScene& scene) {
    scene.world.make("/a");
    scene.world.make("/b");
    InterProcessMultiLock both = a_and_b(scene.client);
    scene.begin();
    const auto leases = scene.run<LeaseGroup>([&](auto done) { both.async_acquire(done); });
    if (!scene.failed() && leases.result().state() != LeaseState::held) scene.complain("not held");
  });
}

TEST_CASE("refusals: the second of two locks, which another client holds, and releases",
          "[refusals]") {
  play_every_refusal(
      "create! children~ create! children~ get! get! remove remove", [](OrderScene& scene) {
        scene.world.make("/a");
        OtherHolder other{scene, acquire_b};
        InterProcessMultiLock both = a_and_b(scene.client);
        scene.begin();
        run_meanwhile<LeaseGroup>(
            scene, [&](auto done) { both.async_acquire(done); },
            [&] { return scene.world.ensemble.watches() >= 2; }, [&] { other.release(); });
      });
}

TEST_CASE("refusals: a try of two locks, of which another client holds the second", "[refusals]") {
  play_every_refusal(
      "create! children~ create! children~ get! remove remove", [](OrderScene& scene) {
        scene.world.make("/a");
        OtherHolder other{scene, acquire_b};
        InterProcessMultiLock both = a_and_b(scene.client);
        scene.begin();
        const auto outcome =
            scene.run<GroupAcquireResult>([&](auto done) { both.async_try_acquire(done); });
        if (scene.failed()) return;
        if (outcome.result().reason != NotAcquired::blocked) scene.complain("another reason");
        if (outcome.result().path != "/b") scene.complain("another path");
      });
}

TEST_CASE("refusals: two locks by the standard face", "[refusals]") {
  play_every_refusal("create! children~ create! children~ remove remove", [](OrderScene& scene) {
    scene.world.make("/a");
    scene.world.make("/b");
    InterProcessMultiLock both = a_and_b(scene.client);
    scene.begin();
    run_blocking(scene, [&] { const std::scoped_lock locked{both}; });
  });
}

/// A lock outside of ZooKeeper that is always granted.
class FreeLock final : public CustomLock {
 public:
  std::string name() const override { return "free"; }
  void async_acquire(CustomLimit, CustomAnswer answer) override {
    answer({}, std::make_unique<Hold>());
  }

 private:
  class Hold final : public CustomHold {
   public:
    void release() override {}
    std::stop_token lost() const noexcept override { return {}; }
  };
};

TEST_CASE("refusals: a custom lock, and a mutex and a semaphore behind it", "[refusals]") {
  play_every_refusal("create! children~ create! children~ create! children! remove remove remove",
                     [](OrderScene& scene) {
                       scene.world.make("/a");
                       scene.world.make("/s");
                       scene.world.make("/s/locks");
                       scene.world.make("/s/leases");
                       InterProcessMultiLock all{{std::make_shared<FreeLock>(),
                                                  InterProcessMutex{scene.client, "/a"},
                                                  InterProcessSemaphoreMutex{scene.client, "/s"}}};
                       scene.begin();
                       scene.run<LeaseGroup>([&](auto done) { all.async_acquire(done); });
                     });
}

/// Two more ensembles, with a client each.
struct MoreEnsembles {
  explicit MoreEnsembles(OrderScene& its_scene) : scene{its_scene} {
    for (std::size_t i = 0; i < 2; ++i) {
      ClientOptions options = scene.world.options("more");
      options.session_factory = ensembles[i].session_factory("more");
      clients[i] = scene.world.client(std::move(options));
    }
  }
  ~MoreEnsembles() {
    for (auto& each : clients) {
      if (!scene.world.end(each)) scene.complain("something keeps another client alive");
    }
  }
  MoreEnsembles(const MoreEnsembles&) = delete;
  MoreEnsembles& operator=(const MoreEnsembles&) = delete;

  OrderScene& scene;
  std::array<testing::FakeEnsemble, 2> ensembles{testing::FakeEnsemble{{.reconnect_pause = 0ms}},
                                                 testing::FakeEnsemble{{.reconnect_pause = 0ms}}};
  std::array<std::unique_ptr<Client>, 2> clients;
};

TEST_CASE("refusals: one of three ensembles, which a quorum has to spare", "[refusals]") {
  play_every_refusal("create children remove", [](OrderScene& scene) {
    scene.world.make("/a");
    MoreEnsembles more{scene};
    QuorumLock lock{{scene.client, *more.clients[0], *more.clients[1]}, "/a"};
    scene.begin();
    const auto outcome = scene.run<LeaseGroup>([&](auto done) { lock.async_acquire(done); });
    if (!scene.failed() && outcome.result().state() != LeaseState::held) scene.complain("not held");
  });
}

// -- Stripes --------------------------------------------------------------------------------------

TEST_CASE("refusals: the only stripe, which nobody holds", "[refusals]") {
  play_every_refusal("create! children~ remove", [](OrderScene& scene) {
    scene.world.make("/a");
    scene.world.make("/a/0");
    StripedMutex mutex{scene.client, "/a", 1};
    scene.begin();
    scene.run<StripeLease>([&](auto done) { mutex.async_acquire_any(done); });
  });
}

TEST_CASE("refusals: any of two stripes, whose nodes are created", "[refusals]") {
  play_every_refusal("create~ children~ create~ create! create! create! children! remove",
                     [](OrderScene& scene) {
                       StripedMutex mutex{scene.client, "/a", 2};
                       scene.begin();
                       scene.run<StripeLease>([&](auto done) { mutex.async_acquire_any(done); });
                     });
}

TEST_CASE("refusals: a try of the only stripe, which another client holds", "[refusals]") {
  play_every_refusal("create! children~ get! remove", [](OrderScene& scene) {
    OtherHolder other{scene, [](const Client& client, auto done) {
                        InterProcessMutex{client, "/a/0"}.async_acquire(done);
                      }};
    StripedMutex mutex{scene.client, "/a", 1};
    scene.begin();
    const auto outcome =
        scene.run<StripeLease>([&](auto done) { mutex.async_try_acquire_any(done); });
    if (!scene.failed() && outcome.result().reason != NotAcquired::blocked) {
      scene.complain("another reason");
    }
  });
}

TEST_CASE("refusals: the only stripe, which another client holds, and releases", "[refusals]") {
  play_every_refusal("create! children~ get! get! remove", [](OrderScene& scene) {
    OtherHolder other{scene, [](const Client& client, auto done) {
                        InterProcessMutex{client, "/a/0"}.async_acquire(done);
                      }};
    StripedMutex mutex{scene.client, "/a", 1};
    scene.begin();
    run_meanwhile<StripeLease>(
        scene, [&](auto done) { mutex.async_acquire_any(done); },
        [&] { return scene.world.ensemble.watches() >= 2; }, [&] { other.release(); });
  });
}

}  // namespace
}  // namespace custodian::tests::lock_set_refusals_test
