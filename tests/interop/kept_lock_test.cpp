// A lock that our client keeps while nobody wants it, and Curator's contender at the same path.
//
// CUSTODIAN_TEST_TURNS sets how many turns Curator has at each lock; by default a few. The times of
// its waits are printed, and not judged: they mean something only on an idle machine.

#include <algorithm>
#include <chrono>
#include <iostream>
#include <vector>

#include "curator.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "stage.hpp"
#include "support/number_in.hpp"

namespace custodian::tests::kept_lock_test {
namespace {

using namespace std::chrono_literals;

/// A lock at which our client and Curator's take turns.
class Place {
 public:
  Place(Stage& stage, const std::string& name, std::chrono::milliseconds keep_idle_for)
      : path_{stage.path(name)},
        client_{options_for(connect_string())},
        mutex_{client_, path_, {.keep_idle_for = keep_idle_for}},
        most_{keep_idle_for == 0ms ? 1 : 100} {}

  /// Our client acquires and releases the lock, and then Curator's does. A lock that others want is
  /// kept only after it was acquired several times without a contender of theirs, and kept again
  /// only if the keeping was of use.
  void take_turns(Session& curators) {
    for (int i = 0; i < most_ && client_.kept_locks() == 0; ++i) mutex_.acquire().release();
    const FencingToken before = mutex_.acquire().token();
    idle_ += client_.kept_locks();
    const auto asked = std::chrono::steady_clock::now();
    curators.does("acquire mutex " + path_);
    waits_.push_back(std::chrono::steady_clock::now() - asked);
    const AcquireResult refused = mutex_.try_acquire();
    CHECK_FALSE(refused);
    curators.does("release mutex " + path_);
    // Nothing was kept across Curator's turn.
    CHECK(mutex_.acquire().token() > before);
  }

  void print(const std::string& what) {
    std::ranges::sort(waits_);
    const auto at = [&](std::size_t percent) {
      const std::chrono::duration<double, std::micro> wait =
          waits_[(waits_.size() - 1) * percent / 100];
      return wait.count();
    };
    std::cout << "  " << what << ": Curator's waits " << at(50) << " us, one in a hundred "
              << at(99) << " us, at the most " << at(100) << " us; " << waits_.size() << " turns\n";
  }

  /// How often the lock was kept when Curator's asked for it.
  [[nodiscard]] std::size_t idle() const noexcept { return idle_; }

 private:
  const std::string path_;
  Client client_;
  InterProcessMutex mutex_;
  const int most_;  ///< turns of ours before Curator's
  std::vector<std::chrono::steady_clock::duration> waits_;
  std::size_t idle_ = 0;
};

TEST_CASE("Curator's contender has a lock that ours keeps idle as soon as it asks, each time") {
  CUSTODIAN_REQUIRES_CURATOR();
  const auto turns = static_cast<std::size_t>(number_in("CUSTODIAN_TEST_TURNS", 20));
  Stage stage{"kept"};
  Driver driver{curator()};
  Session curators{driver, "curators"};
  Place kept{stage, "kept", 10min};
  Place free{stage, "free", 0ms};
  // Curator's first turn has what its process loads, and its session.
  curators.does("acquire mutex " + stage.path("first"));
  for (std::size_t i = 0; i < turns; ++i) {
    kept.take_turns(curators);
    free.take_turns(curators);
  }
  CHECK(kept.idle() == turns);
  CHECK(free.idle() == 0);
  kept.print("kept by ours");
  free.print("not kept    ");
}

}  // namespace
}  // namespace custodian::tests::kept_lock_test
