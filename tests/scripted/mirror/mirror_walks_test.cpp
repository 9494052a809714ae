// Mirrors through random walks of a tree, with faults at random requests: at each rest the mirror
// equals the ensemble's tree, and its changes give the mirror. CUSTODIAN_TEST_WALKS=<number> sets
// the number of walks, CUSTODIAN_TEST_WALK=<seed> the first one.

#include <cstdlib>
#include <iostream>
#include <random>

#include "scripted/mirror/mirror_scene.hpp"

namespace custodian::tests::mirror_walks_test {
namespace {

/// A fault at one request in `one_of`; 0: no fault.
class FaultsAtRandom final : public testing::FaultPlan {
 public:
  FaultsAtRandom(std::mt19937_64& random, int one_of) : random_{random}, one_of_{one_of} {}

  Fault on_submit(const Submission&) override {
    if (one_of_ == 0 || pick(one_of_) != 0) return {};
    return all_faults()[static_cast<std::size_t>(pick(static_cast<int>(all_faults().size())))];
  }

 private:
  [[nodiscard]] int pick(int below) {
    return std::uniform_int_distribution<int>{0, below - 1}(random_);
  }
  std::mt19937_64& random_;
  const int one_of_;
};

class Walk {
 public:
  explicit Walk(std::uint64_t seed) : random_{seed} {}

  std::string run() {
    const int mood = pick(3);
    for (int i = pick(20); i > 0; --i) mutate();
    client_ = world_.client("mine");
    world_.ensemble.set_fault_plan(std::make_shared<FaultsAtRandom>(random_, mood == 0   ? 0
                                                                             : mood == 1 ? 40
                                                                                         : 8));
    mirror_.emplace(*client_, "/m");
    subscription_ = mirror_->on_change([this](const MirrorChange& each) { replay_.apply(each); });
    for (int rest = 0; rest < 3 && violation_.empty(); ++rest) {
      for (int step = 0; step < 30; ++step) do_something(mood);
      world_.ensemble.start();
      world_.ensemble.release_replies();
      const bool is_there = world_.run_until([this] {
        return mirror_->state() == MirrorState::synced &&
               difference(world_.ensemble, *mirror_, replay_).empty();
      });
      if (!is_there) {
        violation_ = std::string{to_string(mirror_->state())} + ": " +
                     difference(world_.ensemble, *mirror_, replay_);
      }
    }
    world_.ensemble.set_fault_plan(nullptr);
    mirror_.reset();
    if (!world_.run_until_idle(*client_)) complain("something is left in the client");
    // A server that the client has left may have watches until the client connects again.
    if (!world_.run_until([this] { return world_.ensemble.watches() == 0; })) {
      complain("a watch is left on the server");
    }
    if (!world_.end(client_)) complain("something keeps the client alive");
    return violation_;
  }

 private:
  [[nodiscard]] int pick(int below) {
    return std::uniform_int_distribution<int>{0, below - 1}(random_);
  }
  void complain(const std::string& what) {
    if (violation_.empty()) violation_ = what;
  }

  void do_something(int mood) {
    const int what = pick(12);
    if (what < 4) return mutate();
    if (what < 9 || mood == 0) {
      for (int turns = pick(6); turns > 0; --turns) {
        world_.context.restart();
        world_.context.poll_one();
      }
      return;
    }
    const std::int64_t session = client_->session().id;
    switch (pick(6)) {
      case 0: return world_.ensemble.expire(session);
      case 1: return world_.ensemble.disconnect(session);
      case 2: return world_.ensemble.leave_server_behind();
      case 3: return world_.ensemble.stop();
      case 4: return world_.ensemble.release_replies();
      default: return world_.ensemble.start();
    }
  }

  /// Changes a node of a small tree.
  void mutate() {
    std::string path = "/m";
    for (int level = pick(4); level > 0; --level) {
      if (!world_.ensemble.exists(path)) break;
      path += std::string{"/"} + "abc"[pick(3)];
    }
    const std::string data = std::to_string(pick(3));
    if (!world_.ensemble.exists(path)) return world_.make(path, data);
    const int what = pick(5);
    if (what < 3) {
      world_.ensemble.operate(request::Set{path, data});
    } else {
      world_.ensemble.remove_tree(path);
      if (what == 4) world_.make(path, data);
    }
  }

  std::mt19937_64 random_;
  World world_;
  std::unique_ptr<Client> client_;
  std::optional<TreeCache> mirror_;
  Replay replay_;
  Subscription subscription_;
  std::string violation_;
};

/// The number in a variable of the environment.
std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST_CASE("mirror: it follows random walks of a tree through faults at random", "[mirror]") {
#ifdef CUSTODIAN_SANITIZED
  constexpr std::uint64_t sample = 50;
#else
  constexpr std::uint64_t sample = 500;
#endif
  const std::uint64_t first = number_in("CUSTODIAN_TEST_WALK", 1);
  const std::uint64_t walks = number_in("CUSTODIAN_TEST_WALKS", sample);
  for (std::uint64_t seed = first; seed < first + walks; ++seed) {
    INFO("seed " << seed);
    REQUIRE(Walk{seed}.run() == "");
  }
}

}  // namespace
}  // namespace custodian::tests::mirror_walks_test
