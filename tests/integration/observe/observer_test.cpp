// An observer of a client that has threads of its own.

#include "custodian/observer.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "custodian/locks/inter_process_mutex.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::observer_test {
namespace {

/// An observer that counts events, and notices if they overlap or come in a wrong order.
class Watchful final : public Observer {
 public:
  explicit Watchful(std::atomic<bool>& gone) : gone_{gone} {}
  Watchful(const Watchful&) = delete;
  Watchful& operator=(const Watchful&) = delete;
  ~Watchful() override { gone_ = true; }

  std::atomic<int> acquired = 0;
  std::atomic<int> begun = 0;
  std::atomic<int> lost = 0;
  std::atomic<int> released = 0;
  std::atomic<int> mistakes = 0;

  void on_acquire_ended(const AcquireEnded& event) override {
    const Turn turn{*this};
    if (event.outcome == AcquireOutcome::acquired && ++acquired > begun) ++mistakes;
  }
  void on_lease_begun(const LeaseBegun& event) override {
    const Turn turn{*this};
    if (event.token <= newest_) ++mistakes;
    newest_ = event.token;
    ++begun;
  }
  void on_lease_lost(const LeaseLost& event) override {
    const Turn turn{*this};
    if (event.token != newest_ || released == begun) ++mistakes;
    ++lost;
  }
  void on_lease_released(const LeaseReleased& event) override {
    const Turn turn{*this};
    if (event.token > newest_ || ++released > begun) ++mistakes;
  }

 private:
  struct Turn {
    explicit Turn(Watchful& all) : whose{all} {
      if (whose.busy_.exchange(true)) ++whose.mistakes;
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { whose.busy_ = false; }
    Watchful& whose;
  };

  std::atomic<bool>& gone_;
  std::atomic<bool> busy_ = false;
  FencingToken newest_;  ///< the newest token of the leases that have begun
};

TEST_CASE(
    "observer: of threads that take turns each is told of, and a lease that survives its "
    "client") {
  constexpr int threads = 4;
  constexpr int turns = 25;
  const bool cohort = GENERATE(false, true);
  const LockOptions options{.hand_off = cohort ? HandOff::cohort(4) : HandOff::strict()};
  std::atomic<bool> gone = false;
  const TestClient root{"observer"};
  {
    const auto watchful = std::make_shared<Watchful>(gone);
    Lease survivor;
    {
      ClientOptions observed = options_for(root.servers());
      observed.name_space = root.root();
      observed.observer = watchful;
      const Client client{std::move(observed)};
      InterProcessMutex mutex{client, "/lock", options};
      std::vector<std::thread> all;
      for (int i = 0; i < threads; ++i) {
        all.emplace_back([&mutex] {
          for (int turn = 0; turn < turns; ++turn) const std::scoped_lock guard{mutex};
        });
      }
      for (std::thread& each : all) each.join();
      survivor = mutex.acquire();
    }
    constexpr int leases = threads * turns + 1;
    CHECK(eventually([&] { return watchful->lost == 1; }));
    CHECK(watchful->released == watchful->begun - 1);
    survivor.release();
    CHECK(eventually([&] { return watchful->released == watchful->begun; }));
    // If a cohort's node is granted when no waiter is left, one more lease begins, and is released
    // at once.
    if (cohort) {
      CHECK(watchful->begun >= leases);
    } else {
      CHECK(watchful->begun == leases);
    }
    CHECK(watchful->acquired == leases);
    CHECK(watchful->mistakes == 0);
  }
  // The client was the observer's last owner.
  CHECK(eventually([&] { return gone.load(); }));
}

}  // namespace
}  // namespace custodian::tests::observer_test
