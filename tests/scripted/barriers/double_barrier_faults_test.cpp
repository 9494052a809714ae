// A double barrier with a fault at each request of one member, and cancelled at each moment: no
// member is in alone, all members of a party get the same answer, and nothing is left behind.

#include <algorithm>
#include <boost/asio/post.hpp>
#include <optional>
#include <string_view>

#include "barriers/party_rules.hpp"
#include "custodian/barriers/distributed_double_barrier.hpp"
#include "scripted/barriers/operation_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::double_barrier_faults_test {
namespace {

const std::string path = "/parties/one";
const std::string ready = path + "/ready";

enum class Act { enter, give_up, leave };
/// The actions of the other members, before and meanwhile.
enum class Others {
  come_later,
  wait,        ///< one waits
  are_in,      ///< two are in
  have_begun,  ///< one is in, and leaves first
  stay,        ///< one is in, and leaves last
};
/// The nodes that an earlier party has left behind.
enum class Left { nothing, our_ready, anothers_ready };
/// Where the observed member's name is among those of a party.
enum class Place { any, lowest, highest };

struct Case {
  const char* name;
  Act act;
  Others others;
  std::size_t steps;
  Left left = Left::nothing;
  Late late = Late::joins;
  Place place = Place::any;
  /// The other member comes when this request is sent.
  std::optional<std::size_t> others_at{};
};

constexpr Case all_cases[] = {
    {"enter first", Act::enter, Others::come_later, 8},
    {"enter last", Act::enter, Others::wait, 4},
    {"join", Act::enter, Others::are_in, 7},
    {"wait for the next party", Act::enter, Others::are_in, 17, Left::nothing, Late::waits},
    {"enter, ready is left", Act::enter, Others::come_later, 10, Left::our_ready},
    {"enter, another's ready is left", Act::enter, Others::come_later, 12, Left::anothers_ready},
    {"leave first, lowest", Act::leave, Others::stay, 6, Left::nothing, Late::joins, Place::lowest},
    {"leave first, highest", Act::leave, Others::stay, 5, Left::nothing, Late::joins,
     Place::highest},
    {"leave last, lowest", Act::leave, Others::have_begun, 3, Left::nothing, Late::joins,
     Place::lowest},
    {"leave last, highest", Act::leave, Others::have_begun, 5, Left::nothing, Late::joins,
     Place::highest},
};
constexpr Case alone{"give up", Act::give_up, Others::come_later, 10};

/// The observed member, and others that have no faults.
class PartyPlay final : public OperationPlay {
 public:
  PartyPlay(const Case& played, const Disturbance& disturbance)
      : OperationPlay{disturbance}, case_{played}, others_client_{world_.client("other")} {
    own_.emplace(*client_, path, 2, case_.late);
    other_.emplace(*others_client_, path, 2);
    third_.emplace(*others_client_, path, 2);
  }

 private:
  using Member = std::optional<DistributedDoubleBarrier>;

  [[nodiscard]] std::vector<std::string> members() {
    return recipes_detail::members_of(world_.ensemble.children(path));
  }
  [[nodiscard]] bool is_own(const std::string& member) {
    return world_.ensemble.operate(request::Get{path + "/" + member}).data == "observed";
  }
  [[nodiscard]] bool has_own_node() {
    return std::ranges::any_of(members(), [this](const auto& each) { return is_own(each); });
  }

  /// Both enter, or both leave.
  template <typename Start>
  void together(Member& one, Member& another, Start start) {
    Outcome<bool> ones;
    Outcome<bool> anothers;
    start(one, ones.handler());
    start(another, anothers.handler());
    const bool ended = world_.run_until_arrived(ones) && world_.run_until_arrived(anothers) &&
                       !ones.error() && !anothers.error() && ones.result() && anothers.result();
    if (!ended) complain("two do not come together");
  }
  void enter(Member& one, Member& another) {
    together(one, another, [](Member& member, auto done) { member->async_enter(done); });
  }
  void leave(Member& one, Member& another) {
    together(one, another, [](Member& member, auto done) { member->async_leave(done); });
  }

  [[nodiscard]] bool is_in_place() {
    if (case_.place == Place::any) return true;
    const auto names = members();
    return is_own(case_.place == Place::lowest ? names.front() : names.back());
  }

  void prepare() override {
    if (case_.left != Left::nothing) {
      world_.make("/parties");
      world_.make(path);
      const bool is_ours = case_.left == Left::our_ready;
      world_.make(ready, is_ours ? recipes_detail::ready_data({"gone", "too"}) : "10.0.0.1");
    }
    if (case_.others == Others::wait) {
      other_->async_enter(others_.handler());
      world_.run_until([this] { return members().size() == 1 && world_.ensemble.watches() == 1; });
    }
    if (case_.others == Others::are_in) enter(other_, third_);
    if (case_.act == Act::leave) {
      enter(own_, other_);
      while (!is_in_place()) {
        leave(own_, other_);
        enter(own_, other_);
      }
    }
    if (case_.others == Others::have_begun) {
      other_->async_leave(others_.handler());
      world_.run_until([this] { return world_.ensemble.watches() == 1; });
    }
    world_.settle();
  }

  void on_request(std::size_t step) override {
    if (case_.others_at != step) return;
    boost::asio::post(world_.context, [this] { other_->async_enter(others_.handler()); });
  }

  void begin() override {
    if (case_.act == Act::leave) return own_->async_leave(done());
    if (case_.act == Act::enter) return own_->async_enter(done());
    own_->async_enter_until(Deadline{brief_limit}, done());
  }

  void meanwhile() override {
    if (case_.act == Act::enter && case_.others == Others::come_later) {
      world_.run_until([this] { return arrived() || is_waiting(); });
      if (arrived() && !disturbance_.cancel) complain("it is in alone");
      other_->async_enter(others_.handler());
    }
    if (case_.late == Late::waits) {
      world_.run_until([this] { return arrived() || (!has_own_node() && watches_left() == 2); });
      if (arrived() && !disturbance_.cancel) complain("it has not waited");
      leave(other_, third_);
      other_->async_enter(others_.handler());
    }
    if (case_.others == Others::stay) {
      world_.run_until([this] { return arrived() || watches_left() > 0; });
      if (arrived() && !disturbance_.cancel && !loses_session()) {
        complain("it has left, and the other one has not");
      }
      other_->async_leave(others_.handler());
    }
  }
  [[nodiscard]] bool is_waiting() { return has_own_node() && watches_left() > 0; }

  void judge(error_code error, std::int64_t result) override {
    is_judged_ = true;
    is_in_ = case_.act != Act::leave && !error && result != 0;
    if (error == Errc::session_lost && loses_session()) return;
    if (error) return complain("it fails: " + error.message());
    if (case_.act == Act::give_up) {
      if (result != 0 && !case_.others_at) complain("it is in alone");
    } else if (result == 0) {
      complain("it is late without a limit");
    }
  }
  [[nodiscard]] bool loses_session() const {
    return std::ranges::any_of(disturbance_.faults, [](const auto& each) {
      const FaultKind kind = each.second.kind;
      return kind == FaultKind::expire_before || kind == FaultKind::expire_after;
    });
  }

  void judge_servers() override {
    judge_party();
    // What is left does not disturb the next party.
    own_.reset();
    other_.emplace(*others_client_, path, 2);
    third_.emplace(*others_client_, path, 2);
    enter(other_, third_);
    leave(other_, third_);
    other_.reset();
    third_.reset();
    if (!world_.run_until([this] { return world_.ensemble.children(path).empty(); })) {
      complain("a node is left");
    }
    if (!world_.end(others_client_)) complain("something keeps the other client alive");
  }

  /// Both are in, or neither is.
  void judge_party() {
    if (case_.others == Others::are_in && case_.late == Late::joins) return;
    if (case_.act == Act::leave) return;
    if (is_in_) {
      const bool both = world_.run_until_arrived(others_) && !others_.error() && others_.result();
      if (!both) complain("it is in alone, and the other one waits");
      return;
    }
    world_.settle();
    // Where the servers cannot be asked its node may be counted until it is gone.
    const bool may_be_counted = disturbance_.hides_an_outcome();
    if (is_judged_ && loses_session()) return;
    if (others_.arrived() && !may_be_counted) complain("the other one is in alone");
  }

  void forget() override {}

  std::size_t watches_left() override { return world_.ensemble.watches(client_->session().id); }

  const Case case_;
  std::unique_ptr<Client> others_client_;
  Member own_;
  Member other_;
  Member third_;
  Outcome<bool> others_;
  bool is_judged_ = false;
  bool is_in_ = false;
};

Played playing(const Case& played) {
  return [&played](const Disturbance& disturbance) { return PartyPlay{played, disturbance}.run(); };
}

TEST_CASE("double barrier: every operation survives every fault", "[double-barrier]") {
  for (const Case& each : all_cases) {
    INFO(each.name);
    CHECK(play_every_fault(each.name, playing(each)) == each.steps);
  }
}

TEST_CASE("double barrier: a member that gives up is out, through every fault",
          "[double-barrier]") {
  CHECK(play_every_fault(alone.name, playing(alone)) == alone.steps);
}

TEST_CASE("double barrier: a member that gives up while another one comes is in with it, or not",
          "[double-barrier]") {
  // While it is taken out: each play waits until its limit has passed.
  for (std::size_t at = 7; at < 10; ++at) {
    Case raced = alone;
    raced.others_at = at;
    INFO("the other one comes with request " << at);
    play_every_fault(raced.name, playing(raced));
  }
}

template <typename Play>
void play_cases(std::string_view beginning, Play play) {
  for (const Case& each : all_cases) {
    if (std::string_view{each.name}.starts_with(beginning)) play(each.name, playing(each));
  }
}

// A test case for each group, for all together take long.
TEST_CASE("double barrier: entering survives every pair of faults", "[pairs]") {
  play_cases("enter first", play_every_pair);
  play_cases("enter last", play_every_pair);
}
TEST_CASE("double barrier: joining survives every pair of faults", "[pairs]") {
  play_cases("join", play_every_pair);
}
TEST_CASE("double barrier: waiting for the next party survives every pair of faults", "[pairs]") {
  play_cases("wait", play_every_pair);
}
TEST_CASE("double barrier: entering behind a crashed party survives every pair of faults",
          "[pairs]") {
  play_cases("enter, ready", play_every_pair);
}
TEST_CASE("double barrier: entering behind another's crashed party survives every pair of faults",
          "[pairs]") {
  play_cases("enter, another's", play_every_pair);
}
TEST_CASE("double barrier: leaving survives every pair of faults", "[pairs]") {
  play_cases("leave", play_every_pair);
}

TEST_CASE("double barrier: entering, when it is cancelled, leaves a member that is in or out",
          "[cancelled]") {
  play_cases("enter", play_every_cancellation);
}
TEST_CASE("double barrier: coming late, when it is cancelled, leaves a member that is in or out",
          "[cancelled]") {
  play_cases("join", play_every_cancellation);
  play_cases("wait", play_every_cancellation);
}
TEST_CASE("double barrier: leaving, when it is cancelled, leaves nobody in", "[cancelled]") {
  play_cases("leave", play_every_cancellation);
}

}  // namespace
}  // namespace custodian::tests::double_barrier_faults_test
