// Listeners of a shared count through every fault: they are called once with each value that stays,
// in order, and leave nothing behind, whenever they are removed.

#include <algorithm>
#include <boost/asio/post.hpp>

#include "custodian/shared/shared_count.hpp"
#include "scripted/plays.hpp"
#include "scripted/shared/shared_value_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::shared_value_listener_faults_test {

namespace asio = boost::asio;

namespace {

using Count = Versioned<std::int32_t>;

constexpr auto path = "/p/q/count";
constexpr std::int32_t seed = 3;

bool ends_the_session(const Fault& fault) {
  return fault.kind == FaultKind::expire_before || fault.kind == FaultKind::expire_after;
}

struct Scene {
  bool node_exists = true;
  Faults faults{};
  std::optional<CountCancel> reset{};  ///< when the subscription is reset
};

std::string describe(const Scene& scene) {
  std::string text = scene.node_exists ? "of a node" : "of nothing";
  for (const auto& [at, fault] : scene.faults) {
    text += "; request " + std::to_string(at) + ": " + tests::describe(fault);
  }
  if (scene.reset) {
    constexpr const char* moments[] = {"with request ", "before reply ", "after reply "};
    text += std::string{"; reset "} + moments[static_cast<int>(scene.reset->moment)] +
            std::to_string(scene.reset->at);
  }
  return text;
}

/// Writes three values, one after the other, which a listener is to see.
class Listening {
 public:
  explicit Listening(const Scene& scene)
      : scene_{scene}, plan_{std::make_shared<FaultsAt>("observed", scene.faults)} {}

  CountVerdict run() {
    client_ = world_.client("observed");
    count_.emplace(*client_, path, seed);
    if (scene_.node_exists) {
      world_.make("/p");
      world_.make("/p/q");
      world_.make(path, bytes_of(1));
    }
    arrange_the_reset();
    world_.ensemble.set_fault_plan(plan_);
    subscription_ = count_->on_change([this](const Count& value) { hear(value); });
    for (const std::int32_t value : {20, 30}) {
      wait_for_what_is_there();
      world_.ensemble.operate(request::Set{path, bytes_of(value)});
    }
    wait_for_what_is_there();
    leave_nothing();
    return std::move(verdict_);
  }

 private:
  void complain(const std::string& what) {
    if (verdict_.violation.empty()) verdict_.violation = what;
  }

  void arrange_the_reset() {
    if (!scene_.reset) return;
    const auto reset_at = [this](CountCancelMoment moment) {
      return [this, moment](std::size_t at) {
        if (scene_.reset->moment != moment || scene_.reset->at != at) return;
        was_reset_ = true;
        subscription_.reset();
      };
    };
    // The reset is posted, so that it runs after the call that submits: no other code may run on
    // the strand within that call.
    plan_->submitted = [this, reset = reset_at(CountCancelMoment::request_sent)](std::size_t at) {
      asio::post(client_->get_executor(), [reset, at] { reset(at); });
    };
    plan_->replying = reset_at(CountCancelMoment::before_reply);
    plan_->replied = reset_at(CountCancelMoment::after_reply);
  }

  [[nodiscard]] std::optional<Count> look() {
    const Reply reply = world_.ensemble.operate(request::Get{path});
    if (reply.error) return std::nullopt;
    return Count{.value = static_cast<unsigned char>(reply.data.back()),
                 .version = reply.stat.version,
                 .mzxid = reply.stat.mzxid};
  }

  void hear(const Count& value) {
    const bool may_go_back = std::ranges::any_of(
        scene_.faults, [](const auto& each) { return ends_the_session(each.second); });
    if (was_reset_) complain("called after the end of its subscription");
    if (!heard_.empty() && heard_.back().mzxid == value.mzxid) complain("the same value twice");
    if (!heard_.empty() && heard_.back().mzxid > value.mzxid && !may_go_back) {
      complain("an older value after a newer one");
    }
    if (count_->last_known() != value) complain("another value is the last known one");
    heard_.push_back(value);
  }

  void wait_for_what_is_there() {
    const bool heard = world_.run_until([this] {
      return was_reset_ ||
             (!heard_.empty() && heard_.back() == look() && world_.ensemble.watches() > 0);
    });
    if (!heard) complain("what is there is not heard of");
  }

  void leave_nothing() {
    subscription_.reset();
    verdict_.steps = plan_->steps();
    if (!world_.run_until_idle(*client_)) complain("requests or watches are left in the client");
    if (world_.ensemble.watches() != 0) complain("a watch is left on the server");
    count_.reset();
    if (!world_.end(client_)) complain("something keeps the client alive");
  }

  const Scene& scene_;
  const std::shared_ptr<FaultsAt> plan_;
  World world_;
  std::unique_ptr<Client> client_;
  std::optional<SharedCount> count_;
  Subscription subscription_;
  bool was_reset_ = false;
  std::vector<Count> heard_;
  CountVerdict verdict_;
};

class Tally : public Plays {
 public:
  using Plays::Plays;

  std::size_t play(const Scene& scene) {
    const CountVerdict verdict = Listening{scene}.run();
    add(verdict.violation, [&] { return describe(scene); });
    return verdict.steps;
  }
};

TEST_CASE("shared count: a listener asks once for each value") {
  Tally tally{"no fault"};
  CHECK(tally.play({.node_exists = true}) == 3);
  CHECK(tally.play({.node_exists = false}) == 9);
}

TEST_CASE("shared count: a listener hears of what is there through every fault", "[shared]") {
  Tally tally{"one fault"};
  for (const bool node_exists : {true, false}) {
    const std::size_t steps = tally.play({.node_exists = node_exists});
    for (std::size_t at = 0; at < steps; ++at) {
      for (const Fault& fault : sampled(all_faults())) {
        tally.play({.node_exists = node_exists, .faults = {{at, fault}}});
      }
    }
  }
}

TEST_CASE("shared count: a listener hears of what is there through every pair of faults",
          "[shared]") {
  Tally tally{"two faults"};
  Sample sample;
  const std::size_t steps = tally.play({});
  for (std::size_t at = 0; at < steps; ++at) {
    for (const Fault& fault : all_faults()) {
      const std::size_t longer = tally.play({.faults = {{at, fault}}});
      for (std::size_t next = at + 1; next < std::min(longer, at + 3); ++next) {
        for (const Fault& another : all_faults()) {
          if (sample.takes_next()) tally.play({.faults = {{at, fault}, {next, another}}});
        }
      }
    }
  }
}

TEST_CASE("shared count: a listener may go at every moment, and leaves nothing behind",
          "[shared]") {
  Tally tally{"reset"};
  for (const bool node_exists : {true, false}) {
    const std::size_t steps = tally.play({.node_exists = node_exists});
    for (std::size_t at = 0; at < steps; ++at) {
      for (const CountCancelMoment moment :
           {CountCancelMoment::request_sent, CountCancelMoment::before_reply,
            CountCancelMoment::after_reply}) {
        tally.play({.node_exists = node_exists, .reset = CountCancel{moment, at}});
      }
    }
  }
}

}  // namespace
}  // namespace custodian::tests::shared_value_listener_faults_test
