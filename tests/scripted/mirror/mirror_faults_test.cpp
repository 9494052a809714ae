// Mirrors through every fault at every request: they become equal to the servers' tree, report each
// change once, and leave nothing behind, whenever they are destroyed.

#include <boost/asio/post.hpp>

#include "scripted/mirror/mirror_scene.hpp"
#include "scripted/plays.hpp"

namespace custodian::tests::mirror_faults_test {
namespace {

namespace asio = boost::asio;

using Faults = std::vector<std::pair<std::size_t, Fault>>;

enum class Moment { request_sent, before_reply, after_reply };

struct End {
  Moment moment = Moment::request_sent;
  std::size_t at = 0;
};

struct Scene {
  bool root_exists = true;
  Faults faults{};
  std::optional<End> end{};  ///< when the mirror is destroyed
};

std::string describe(const Scene& scene) {
  std::string text = scene.root_exists ? "of a tree" : "of nothing";
  for (const auto& [at, fault] : scene.faults) {
    text += "; request " + std::to_string(at) + ": " + tests::describe(fault);
  }
  if (scene.end) {
    constexpr const char* moments[] = {"with request ", "before reply ", "after reply "};
    text += std::string{"; destroyed "} + moments[static_cast<int>(scene.end->moment)] +
            std::to_string(scene.end->at);
  }
  return text;
}

struct Verdict {
  std::string violation;
  std::size_t steps = 0;
};

class Mirroring {
 public:
  explicit Mirroring(const Scene& scene)
      : scene_{scene}, plan_{std::make_shared<FaultsAt>("mine", scene.faults)} {}

  Verdict run() {
    client_ = world_.client("mine");
    if (scene_.root_exists) {
      for (const char* path : {"/m", "/m/a", "/m/a/c", "/m/b"}) world_.make(path, path);
    }
    arrange_the_end();
    world_.ensemble.set_fault_plan(plan_);
    mirror_.emplace(*client_, "/m");
    subscription_ = mirror_->on_change([this](const MirrorChange& each) { replay_.apply(each); });
    expect_what_is_there();
    if (!scene_.root_exists) world_.make("/m");
    world_.ensemble.operate(request::Set{"/m", "1"});
    expect_what_is_there();
    world_.ensemble.remove_tree("/m/a");
    world_.make("/m/a", "anew");
    world_.make("/m/d");
    expect_what_is_there();
    world_.ensemble.operate(request::Multi{
        {request::Remove{"/m/d"}, request::Create{.path = "/m/d", .acl = open_acl()}}});
    expect_what_is_there();
    if (std::ranges::count(replay_.told, "removed /m/d") != 0) complain("/m/d was missing");
    leave_nothing();
    return {verdict_, plan_->steps()};
  }

 private:
  void complain(const std::string& what) {
    if (verdict_.empty()) verdict_ = what;
  }

  void arrange_the_end() {
    if (!scene_.end) return;
    const auto end_at = [this](Moment moment) {
      return [this, moment](std::size_t at) {
        if (scene_.end->moment != moment || scene_.end->at != at) return;
        was_destroyed_ = true;
        mirror_.reset();
      };
    };
    // The end is posted, so that it runs after the call that submits: no other code may run on the
    // strand within that call.
    plan_->submitted = [this, end = end_at(Moment::request_sent)](std::size_t at) {
      asio::post(client_->get_executor(), [end, at] { end(at); });
    };
    plan_->replying = end_at(Moment::before_reply);
    plan_->replied = end_at(Moment::after_reply);
  }

  void expect_what_is_there() {
    const bool is_there = world_.run_until([this] {
      return was_destroyed_ || (mirror_->state() == MirrorState::synced &&
                                difference(world_.ensemble, *mirror_, replay_).empty());
    });
    if (is_there) return;
    complain("not what is there: " + std::string{to_string(mirror_->state())} + ", " +
             difference(world_.ensemble, *mirror_, replay_));
  }

  void leave_nothing() {
    mirror_.reset();
    if (!world_.run_until_idle(*client_)) complain("requests or watches are left in the client");
    // A server that the client has left may have watches until the client connects again.
    if (!world_.run_until([this] { return world_.ensemble.watches() == 0; })) {
      complain("a watch is left on the server");
    }
    if (!world_.end(client_)) complain("something keeps the client alive");
    if (!replay_.violation.empty()) complain(replay_.violation);
  }

  const Scene& scene_;
  const std::shared_ptr<FaultsAt> plan_;
  World world_;
  std::unique_ptr<Client> client_;
  std::optional<TreeCache> mirror_;
  Replay replay_;
  Subscription subscription_;
  bool was_destroyed_ = false;
  std::string verdict_;
};

class Tally : public Plays {
 public:
  using Plays::Plays;

  std::size_t play(const Scene& scene) {
    const Verdict verdict = Mirroring{scene}.run();
    add(verdict.violation, [&] { return describe(scene); });
    return verdict.steps;
  }
};

TEST_CASE("mirror: it becomes what is there through every fault", "[mirror]") {
  Tally tally{"one fault"};
  for (const bool root_exists : {true, false}) {
    const std::size_t steps = tally.play({.root_exists = root_exists});
    for (std::size_t at = 0; at < steps; ++at) {
      for (const Fault& fault : sampled(all_faults())) {
        tally.play({.root_exists = root_exists, .faults = {{at, fault}}});
      }
    }
  }
}

TEST_CASE("mirror: it becomes what is there through every pair of faults", "[mirror]") {
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

TEST_CASE("mirror: it may be destroyed at every moment, and leaves nothing behind", "[mirror]") {
  Tally tally{"ended"};
  for (const bool root_exists : {true, false}) {
    const std::size_t steps = tally.play({.root_exists = root_exists});
    for (std::size_t at = 0; at < steps; ++at) {
      for (const Moment moment :
           {Moment::request_sent, Moment::before_reply, Moment::after_reply}) {
        tally.play({.root_exists = root_exists, .end = End{moment, at}});
      }
    }
  }
}

TEST_CASE("mirror: it may be destroyed behind every fault, and leaves nothing behind", "[mirror]") {
  Tally tally{"ended, with a fault"};
  Sample sample;
  const std::size_t steps = tally.play({});
  for (std::size_t at = 0; at < steps; ++at) {
    for (const Fault& fault : all_faults()) {
      for (std::size_t end = at; end < at + 3; ++end) {
        for (const Moment moment :
             {Moment::request_sent, Moment::before_reply, Moment::after_reply}) {
          if (sample.takes_next()) tally.play({.faults = {{at, fault}}, .end = End{moment, end}});
        }
      }
    }
  }
}

}  // namespace
}  // namespace custodian::tests::mirror_faults_test
