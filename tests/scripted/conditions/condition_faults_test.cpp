// A wait and a signal with a fault at each request, and cancelled at each moment: no signal is
// lost, and nothing is left behind.

#include <algorithm>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <optional>

#include "custodian/conditions/inter_process_condition.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/barriers/operation_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::condition_faults_test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr auto lock_path = "/orders/lock";
constexpr auto path = "/orders/changed";

/// Another client, which meets no faults.
struct Bystander {
  Bystander(World& world, const std::string& name) : client{world.client(name)} {}

  std::unique_ptr<Client> client;
  std::optional<InterProcessMutex> mutex{std::in_place, *client, lock_path};
  std::optional<InterProcessCondition> condition{std::in_place, *mutex, path};
  Outcome<Woken> woken;
};

/// The lock and the condition of the observed client, with bystanders that have theirs at the same
/// paths.
class ConditionPlay : public OperationPlay {
 public:
  explicit ConditionPlay(const Disturbance& disturbance) : OperationPlay{disturbance} {
    mutex_.emplace(*client_, lock_path);
    condition_.emplace(*mutex_, path);
  }

 protected:
  void prepare() override {
    world_.make("/orders");
    lease_ = acquired();
  }
  [[nodiscard]] Lease acquired() {
    auto outcome = tests::run<Lease>(world_, [&](auto done) { mutex_->async_acquire(done); });
    world_.settle();
    return std::move(outcome.result());
  }

  void add(std::optional<Bystander>& bystander, const std::string& name) {
    bystander.emplace(world_, name);
  }
  /// Makes a bystander wait. The observed client must hold no lock then.
  void begin_wait(Bystander& bystander) {
    auto acquired = tests::run<Lease>(
        world_, [&](auto done) { bystander.mutex->async_acquire(std::move(done)); });
    Lease lease = std::move(acquired.result());
    const std::string node = lease.node();
    bystander.condition->async_wait(std::move(lease), bystander.woken.handler());
    world_.run_until([&] { return !world_.ensemble.exists(node); });
    world_.settle();
  }
  /// Makes a bystander signal once. Waiters that have been woken release the lock meanwhile.
  std::size_t signal(Bystander& bystander) {
    Outcome<Lease> acquired;
    bystander.mutex->async_acquire(acquired.handler());
    const bool has_lock = world_.run_until([&] {
      release_woken();
      return acquired.arrived();
    });
    if (!has_lock) {
      complain("the lock is not released");
      return 0;
    }
    const Lease lease = std::move(acquired.result());
    const auto signalled = tests::run<std::size_t>(
        world_, [&](auto done) { bystander.condition->async_signal(lease, {}, std::move(done)); });
    return signalled.result();
  }
  /// Makes a bystander wait for a moment: a signal that the observed client has left is not for it,
  /// and goes.
  void clear_up_by(Bystander& bystander) {
    world_.run_until_idle(*client_);
    auto acquired = tests::run<Lease>(
        world_, [&](auto done) { bystander.mutex->async_acquire(std::move(done)); });
    const auto woken = tests::run<Woken>(world_, [&](auto done) {
      bystander.condition->async_wait_for(std::move(acquired.result()), 1ms, std::move(done));
    });
    if (woken.error() || woken.result().status != ConditionStatus::timeout) {
      complain("a signal that was left wakes a later waiter");
    }
    woken.result().lease.release();
    world_.run_until_idle(*bystander.client);
  }
  virtual void release_woken() = 0;
  void end(std::optional<Bystander>& bystander) {
    if (!bystander) return;
    bystander->condition.reset();
    bystander->mutex.reset();
    bystander->woken = {};
    if (!world_.end(bystander->client)) complain("something keeps a bystander alive");
    bystander.reset();
  }

  static void release(Bystander& bystander) {
    if (bystander.woken.arrived()) bystander.woken.result().lease.release();
  }

  void judge_servers() override {
    if (!world_.ensemble.exists(path)) return;
    for (const std::string& name : world_.ensemble.children(path)) complain("left: " + name);
  }
  void forget() override {
    lease_.release();
    condition_.reset();
    mutex_.reset();
  }

  std::optional<InterProcessMutex> mutex_;
  std::optional<InterProcessCondition> condition_;
  Lease lease_;
};

/// The observed client waits, and another client behind it. A third client signals once.
class WaitPlay final : public ConditionPlay {
 public:
  explicit WaitPlay(const Disturbance& disturbance) : ConditionPlay{disturbance} {}

 private:
  void prepare() override {
    ConditionPlay::prepare();
    add(behind_, "behind");
    add(signaller_, "signaller");
  }

  void begin() override {
    const std::string node = lease_.node();
    auto ended = done();
    const auto slot = asio::get_associated_cancellation_slot(ended);
    condition_->async_wait(
        std::move(lease_),
        asio::bind_cancellation_slot(slot, [this, ended](error_code error, Woken woken) {
          has_lock_ = static_cast<bool>(woken.lease);
          was_signalled_ = woken.status == ConditionStatus::signalled;
          ended(error, static_cast<std::int64_t>(woken.status));
        }));
    world_.run_until([&] { return arrived() || !world_.ensemble.exists(node); });
    world_.settle();
  }

  void meanwhile() override {
    begin_wait(*behind_);
    if (signal(*signaller_) != 1) complain("nobody was signalled");
    // The signal wakes the observed waiter or, if that has given up, the waiter behind it.
    const auto is_woken = [&] { return was_signalled_ || behind_->woken.arrived(); };
    if (!world_.run_until(is_woken)) complain("the signal is lost");
    const bool both = was_signalled_ && behind_->woken.arrived();
    if (both) complain("one signal has woken two");
    // Another signal wakes a waiter that still sleeps.
    const auto all_are_woken = [&] {
      release_woken();
      return arrived() && behind_->woken.arrived();
    };
    world_.settle();
    // A waiter that has lost the lock may come to the line, and be signalled, before it knows.
    const bool only_own_is_left = behind_->woken.arrived() && !was_signalled_;
    const bool again = !all_are_woken() && signal(*signaller_) == 1;
    if (!world_.run_until(all_are_woken)) complain("one sleeps on");
    release_woken();
    if (again && only_own_is_left && !was_signalled_) clear_up_by(*signaller_);
    end(behind_);
    end(signaller_);
  }

  void release_woken() override {
    if (behind_) release(*behind_);
  }

  void judge(error_code error, std::int64_t) override {
    if (error == Errc::lock_lost) return;
    if (error) return complain("it fails: " + error.message());
    if (!has_lock_) complain("it has no lock");
  }

  std::optional<Bystander> behind_;
  std::optional<Bystander> signaller_;
  bool was_signalled_ = false;
  bool has_lock_ = false;
};

/// The observed client signals once, while two other clients wait.
class SignalPlay final : public ConditionPlay {
 public:
  explicit SignalPlay(const Disturbance& disturbance) : ConditionPlay{disturbance} {}

 private:
  void prepare() override {
    world_.make("/orders");
    add(first_, "first");
    add(second_, "second");
    add(last_, "last");
    begin_wait(*first_);
    begin_wait(*second_);
    lease_ = acquired();
  }

  void begin() override {
    auto ended = done();
    const auto slot = asio::get_associated_cancellation_slot(ended);
    condition_->async_signal(
        lease_, {},
        asio::bind_cancellation_slot(slot, [ended](error_code error, std::size_t given) {
          ended(error, static_cast<std::int64_t>(given));
        }));
  }

  void meanwhile() override {
    world_.run_until([this] { return arrived(); });
    lease_.release();
    // A waiter that was signalled gets the lock now.
    world_.run_until_idle(*client_);
    world_.run_until([this] { return first_->woken.arrived() || nobody_was_signalled(); });
    first_woke_ = first_->woken.arrived();
    const auto all_are_woken = [&] {
      release_woken();
      return first_->woken.arrived() && second_->woken.arrived();
    };
    for (int i = 0; i < 2 && !all_are_woken(); ++i) {
      signal(*last_);
      world_.settle();
    }
    if (!world_.run_until(all_are_woken)) complain("one sleeps on");
    release_woken();
    end(first_);
    end(second_);
    end(last_);
  }
  void release_woken() override {
    if (first_) release(*first_);
    if (second_) release(*second_);
  }

  /// Returns whether there are the nodes of the two waiters, and no signal.
  [[nodiscard]] bool nobody_was_signalled() { return world_.ensemble.children(path).size() == 2; }

  void judge(error_code error, std::int64_t given) override {
    if (!error && given != 1) return complain("nobody was signalled");
    if (!error && !first_woke_) return complain("the signal is lost");
    const bool honest = !error || error == Errc::lock_lost || error == ErrorCondition::session_over;
    if (!honest) judge_unknown(error);
  }

  std::optional<Bystander> first_;
  std::optional<Bystander> second_;
  std::optional<Bystander> last_;
  bool first_woke_ = false;
};

template <typename Play>
Played playing() {
  return [](const Disturbance& disturbance) { return Play{disturbance}.run(); };
}

TEST_CASE("condition: a wait survives every fault, and loses no signal", "[condition]") {
  CHECK(play_every_fault("wait", playing<WaitPlay>()) == 13);
}

TEST_CASE("condition: a wait survives every pair of faults", "[condition]") {
  play_every_pair("wait", playing<WaitPlay>());
}

TEST_CASE("condition: a wait may be cancelled at any moment, beside every fault", "[condition]") {
  play_every_cancellation("wait", playing<WaitPlay>());
}

TEST_CASE("condition: a signal survives every fault, or says that it does not know",
          "[condition]") {
  CHECK(play_every_fault("signal", playing<SignalPlay>()) == 3);
}

TEST_CASE("condition: a signal survives every pair of faults, and cancellations", "[condition]") {
  play_every_pair("signal", playing<SignalPlay>());
  play_every_cancellation("signal", playing<SignalPlay>());
}

}  // namespace
}  // namespace custodian::tests::condition_faults_test
