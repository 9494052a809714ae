// Acquires that detect deadlocks, with a fault or a cancellation at each request: none ends in
// another way than it should, and nothing is left behind.

#include "scripted/inspect/deadlock_scene.hpp"
#include "scripted/lock_play.hpp"
#include "scripted/plays.hpp"

namespace custodian::tests::deadlock_faults_test {
namespace {

namespace asio = boost::asio;

struct Scene {
  bool is_circle = true;  ///< whether "two" waits for what "one" holds
  Faults faults{};
  std::optional<Cancel> cancel{};
};

std::string describe(const Scene& scene) {
  std::string text = scene.is_circle ? "in a circle: " : "in no circle: ";
  for (const auto& [at, fault] : scene.faults) {
    text += "request " + std::to_string(at) + ": " + tests::describe(fault) + ' ';
  }
  if (scene.cancel) text += "cancelled at " + std::to_string(scene.cancel->at);
  return text;
}

/// The acquire of "one", which holds x and waits for y.
class Wait {
 public:
  explicit Wait(const Scene& scene)
      : scene_{scene}, plan_{std::make_shared<FaultsAt>("one", scene.faults)} {
    hold_x_ = one_.acquire(*one_.x);
    hold_y_ = two_.acquire(*two_.y);
    if (scene.is_circle) older_ = two_.wait(*two_.x);
    if (scene.cancel) watch(*scene.cancel);
    world_.ensemble.set_fault_plan(plan_);
  }

  std::string run() {
    waiting_ = one_.wait(*one_.y, looking());
    // In no circle it would wait for ever: some looks are enough.
    world_.run_until([&] {
      const bool has_looked = !scene_.is_circle && plan_->steps() >= enough_;
      return waiting_.arrived() || has_looked || has_lost_its_hold();
    });
    steps_ = plan_->steps();
    std::string fault = judge();
    world_.ensemble.set_fault_plan(nullptr);
    fault += end();
    return fault;
  }
  [[nodiscard]] std::size_t steps() const { return steps_; }

 private:
  /// As many requests as an acquire and four looks make.
  static constexpr std::size_t enough_ = 40;

  void watch(const Cancel& cancel) {
    const auto emit = [this, at = cancel.at](std::size_t now) {
      if (now != at) return;
      asio::post(world_.context, [this] { one_.give_up.emit(asio::cancellation_type::total); });
      was_cancelled_ = true;
    };
    if (cancel.moment == CancelMoment::request_sent) plan_->submitted = emit;
    if (cancel.moment == CancelMoment::before_reply) plan_->replying = emit;
    if (cancel.moment == CancelMoment::after_reply) plan_->replied = emit;
  }
  [[nodiscard]] bool has_lost_its_hold() const { return hold_x_.state() == LeaseState::lost; }

  std::string judge() {
    if (waiting_.arrived()) {
      const error_code error = waiting_.error();
      if (error == asio::error::operation_aborted) return was_cancelled_ ? "" : "it is given up";
      if (error != deadlock_error()) return "it ends with " + error.message();
      if (!scene_.is_circle) return "it finds a circle where there is none";
      if (waiting_.result().deadlock.empty()) return "it does not say what it has found";
      return waiting_.result() ? "it fails, and has a lease" : "";
    }
    // A session that ends takes the hold along, and there is no circle any more.
    if (scene_.is_circle && !has_lost_its_hold()) return "it does not find the circle";
    hold_y_.release();
    if (older_ && older_->arrived()) older_->result().lease.release();
    if (!world_.run_until_arrived(waiting_)) return "it is not granted the lock that is free";
    if (waiting_.error()) return "it ends late with " + waiting_.error().message();
    waiting_.result().lease.release();
    return "";
  }
  std::string end() {
    hold_x_.release();
    hold_y_.release();
    std::string left;
    if (older_ && !world_.run_until_arrived(*older_)) left += " the other one is not let in";
    if (older_ && older_->arrived()) older_->result().lease.release();
    if (waiting_.arrived()) waiting_.result().lease.release();
    left += one_.end() + two_.end();
    if (world_.ensemble.watches() != 0) left += " watches are left";
    for (const char* path : {"/locks/x", "/locks/y"}) {
      if (!world_.ensemble.children(path).empty())
        left += std::string{" a node is left at "} + path;
    }
    return left;
  }

  const Scene scene_;
  World world_;
  Party one_{world_, "one"};
  Party two_{world_, "two"};
  Lease hold_x_{};
  Lease hold_y_{};
  std::optional<Outcome<AcquireResult>> older_{};
  Outcome<AcquireResult> waiting_{};
  std::shared_ptr<FaultsAt> plan_;
  std::size_t steps_ = 0;
  bool was_cancelled_ = false;
};

class Tally : public Plays {
 public:
  using Plays::Plays;

  std::size_t play(const Scene& scene) {
    Wait wait{scene};
    add(wait.run(), [&] { return describe(scene); });
    return wait.steps();
  }
};

TEST_CASE("deadlock: a circle is found through every fault, and nothing is left") {
  Tally tally{"an acquire in a circle"};
  const std::size_t steps = tally.play({});
  // A look: the children of three nodes, and of the two locks again the children and the two nodes.
  constexpr std::size_t look = 3 + 2 * 3;
  REQUIRE(steps >= 4 + 2 * look);
  for (std::size_t at = 0; at < steps; ++at) {
    for (const Fault& fault : sampled(all_faults())) tally.play({.faults = {{at, fault}}});
  }
}

TEST_CASE("deadlock: an acquire in no circle waits on through every fault of a look") {
  Tally tally{"an acquire in no circle"};
  for (std::size_t at = 0; at < 20; ++at) {
    for (const Fault& fault : sampled(all_faults())) {
      tally.play({.is_circle = false, .faults = {{at, fault}}});
    }
  }
}

TEST_CASE("deadlock: an acquire that looks may be given up at every moment") {
  Tally tally{"an acquire that looks, given up"};
  const std::size_t steps = tally.play({});
  using enum CancelMoment;
  for (const bool is_circle : {true, false}) {
    for (std::size_t at = 0; at < steps; ++at) {
      for (const CancelMoment moment : {request_sent, before_reply, after_reply}) {
        tally.play({.is_circle = is_circle, .cancel = Cancel{moment, at}});
      }
    }
  }
}

}  // namespace
}  // namespace custodian::tests::deadlock_faults_test
