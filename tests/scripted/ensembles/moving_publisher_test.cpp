// The publisher of a moving map: with a fault at each request, cancelled at each, and with others
// at the same time.

#include <boost/asio/post.hpp>

#include "scripted/cancel_moment.hpp"
#include "scripted/ensembles/moving_world.hpp"
#include "scripted/plays.hpp"

namespace custodian::tests::moving_publisher_test {
namespace {

namespace asio = boost::asio;
using namespace moving_world;

struct MoveCase {
  bool begins_with_a_map = true;
  std::size_t faulty_ensemble = 0;
  Faults faults{};
  std::optional<std::pair<CancelMoment, std::size_t>> cancel{};
  bool another_publisher = false;
};

struct MoveRun {
  std::string violation{};
  std::size_t steps = 0;
};

std::string describe(const MoveCase& played) {
  std::string text = played.begins_with_a_map ? "a map" : "no map";
  text += disturbance_at(played.faulty_ensemble, played.faults, played.cancel);
  if (played.another_publisher) text += "; two publishers";
  return text;
}

/// A publisher moves the map; a member is at both ensembles, if there is a map at first. In the end
/// another publisher moves it on.
class MovePlay {
 public:
  explicit MovePlay(const MoveCase& played)
      : case_{played},
        plan_{std::make_shared<FaultsAt>(std::string{"mine-"} + names.at(played.faulty_ensemble),
                                         played.faults)} {}

  MoveRun run() {
    if (case_.begins_with_a_map) make_map(ensembles_);
    for (const char* each : names) member_.follower->start_joining(each);
    ensembles_.world.settle();
    prepare();
    Outcome<> moved;
    Outcome<> others;
    mine_.move_to(layout_at(1), moved.handler(), cancellation_);
    if (case_.another_publisher) other_.move_to(layout_at(0), others.handler());
    if (!ensembles_.world.run_until_arrived(moved)) return {"the move does not end"};
    if (case_.another_publisher && !ensembles_.world.run_until_arrived(others)) {
      return {"the other move does not end"};
    }
    run_.steps = plan_->steps();
    plan_->submitted = plan_->replying = plan_->replied = nullptr;
    judge(moved.error());
    go_on();
    leave_nothing();
    return run_;
  }

 private:
  void complain(const std::string& what) {
    if (run_.violation.empty()) run_.violation = what;
  }

  void prepare() {
    const auto at_moment = [this](CancelMoment moment) {
      return [this, moment](std::size_t step) {
        if (const std::string fault = fault_of(ensembles_); !fault.empty()) complain(fault);
        if (case_.cancel != std::pair{moment, step}) return;
        if (moment != CancelMoment::request_sent) return cancellation_->request();
        asio::post(ensembles_.world.context, [this] { cancellation_->request(); });
      };
    };
    plan_->submitted = at_moment(CancelMoment::request_sent);
    plan_->replying = at_moment(CancelMoment::before_reply);
    plan_->replied = at_moment(CancelMoment::after_reply);
    ensembles_.all.at(case_.faulty_ensemble)->set_fault_plan(plan_);
  }

  /// Whether both copies are stable, and alike.
  bool is_at_rest() {
    const auto east = copy_at(ensembles_, 0);
    const auto west = copy_at(ensembles_, 1);
    return east && east == west &&
           recipes_detail::phase_of(east->version) == recipes_detail::MapPhase::stable;
  }

  void judge(const error_code& error) {
    if (case_.cancel && error == asio::error::operation_aborted) return;
    if (error) return complain("the move fails: " + error.message());
    if (case_.another_publisher) return;
    if (!is_at_rest()) return complain("the copies are not alike, or not stable");
    const MapCopy copy = *copy_at(ensembles_, 0);
    const std::size_t wanted = case_.begins_with_a_map ? 2 : 1;
    if (copy.generations.size() != wanted) complain("there are other generations");
    if (copy.generations.back().pins != layout_at(1).pins) complain("another layout is there");
  }

  /// A publisher that comes later ends what was begun, and moves on.
  void go_on() {
    EnsembleLayout last = layout_at(0);
    last.pins["/settings"] = "west";
    Outcome<> moved;
    other_.move_to(last, moved.handler());
    if (!ensembles_.world.run_until_arrived(moved)) return complain("the next move does not end");
    if (moved.error()) complain("the next move fails: " + moved.error().message());
    for (testing::FakeEnsemble* each : ensembles_.all) {
      each->release_replies();
      each->apply_late_requests();
    }
    if (!is_at_rest()) return complain("the copies are not alike, or not stable in the end");
    if (copy_at(ensembles_, 0)->generations.back().pins != last.pins) {
      complain("the last layout is not the one that was asked for last");
    }
    const std::string fault = fault_of(ensembles_);
    if (!fault.empty()) complain(fault);
  }

  void leave_nothing() {
    if (!mine_.end(ensembles_)) complain("something is left, or keeps a client alive");
    if (!other_.end(ensembles_)) complain("something is left of the other publisher");
    if (!member_.end(ensembles_)) complain("something is left of the member");
    for (std::size_t at = 0; at < 2; ++at) {
      if (!members_at(ensembles_, at).empty()) complain("a member is left");
      if (ensembles_.all.at(at)->watches() != 0) complain("a watch is left");
    }
  }

  const MoveCase& case_;
  const std::shared_ptr<FaultsAt> plan_;
  Ensembles ensembles_;
  MapProcess mine_{ensembles_, "mine"};
  MapProcess other_{ensembles_, "other"};
  MapProcess member_{ensembles_, "member"};
  const CancellationPtr cancellation_ = std::make_shared<Cancellation>(mine_.east->core());
  MoveRun run_;
};

class Tally : public Plays {
 public:
  using Plays::Plays;

  std::size_t play(const MoveCase& played) {
    const MoveRun run = MovePlay{played}.run();
    add(run.violation, [&] { return describe(played); });
    return run.steps;
  }
};

TEST_CASE("moving map: every fault at every request of a publisher leaves the move as it is",
          "[ensembles]") {
  Tally tally{"a move, one fault"};
  for (const bool begins_with_a_map : {true, false}) {
    for (const std::size_t ensemble : {0U, 1U}) {
      MoveCase each{.begins_with_a_map = begins_with_a_map, .faulty_ensemble = ensemble};
      const std::size_t steps = tally.play(each);
      CHECK(steps >= 3);
      for (std::size_t at = 0; at < steps; ++at) {
        for (const Fault& fault : sampled(faults_and_late_ones())) {
          each.faults = {{at, fault}};
          tally.play(each);
        }
      }
    }
  }
}

TEST_CASE("moving map: a cancelled move leaves what the next one ends", "[ensembles]") {
  Tally tally{"a move, cancelled"};
  for (const bool begins_with_a_map : {true, false}) {
    for (const std::size_t ensemble : {0U, 1U}) {
      MoveCase each{.begins_with_a_map = begins_with_a_map, .faulty_ensemble = ensemble};
      const std::size_t steps = tally.play(each);
      for (std::size_t at = 0; at < steps; ++at) {
        for (const CancelMoment moment :
             {CancelMoment::request_sent, CancelMoment::before_reply, CancelMoment::after_reply}) {
          each.cancel = std::pair{moment, at};
          tally.play(each);
        }
      }
    }
  }
}

TEST_CASE("moving map: two publishers at once do no harm, with a fault at each request of one",
          "[ensembles]") {
  Tally tally{"two publishers"};
  for (const std::size_t ensemble : {0U, 1U}) {
    MoveCase each{.faulty_ensemble = ensemble, .another_publisher = true};
    const std::size_t steps = tally.play(each);
    for (std::size_t at = 0; at < steps; ++at) {
      for (const Fault& fault : sampled(all_faults())) {
        each.faults = {{at, fault}};
        tally.play(each);
      }
    }
  }
}

TEST_CASE("moving map: a member that does not announce keeps the next version waiting",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  MapProcess mine{ensembles, "mine"};
  MapProcess other{ensembles, "other"};
  other.follower->start_joining("west");
  REQUIRE(ensembles.world.run_until([&] { return other.follower->is_member("west"); }));
  Outcome<> moved;
  {
    FakeClaim claim{other};
    claim.now = {ClaimPhase::holding, {"east"}};
    mine.move_to(layout_at(1), moved.handler());
    REQUIRE(ensembles.world.run_until([&] { return copy_at(ensembles, 1)->version == 4; }));
    ensembles.world.run_for(std::chrono::milliseconds{20});
    CHECK(copy_at(ensembles, 0)->version == 4);
    CHECK_FALSE(moved.arrived());
    claim.now.locks = {"east", "west"};
    CHECK(ensembles.world.run_until_arrived(moved));
    CHECK_FALSE(moved.error());
  }
  CHECK(copy_at(ensembles, 1)->version == 6);
  CHECK(mine.end(ensembles));
  CHECK(other.end(ensembles));
}

TEST_CASE("moving map: an acquire that waits at the old home keeps the next move waiting",
          "[ensembles]") {
  // Members that announced *moving*, and one that has joined while the map was turned.
  for (const std::int64_t joined_at : {3, 5}) {
    Ensembles ensembles;
    make_map(ensembles);
    if (joined_at == 5) publish_by_hand(ensembles, 5, 1);
    MapProcess mine{ensembles, "mine"};
    MapProcess other{ensembles, "other"};
    other.follower->start_joining("west");
    REQUIRE(ensembles.world.run_until([&] { return other.follower->is_member("west"); }));
    Outcome<> moved;
    {
      FakeClaim claim{other};
      claim.now = {ClaimPhase::acquiring, {}, "east"};
      Outcome<> first;
      mine.move_to(layout_at(1), first.handler());
      REQUIRE(ensembles.world.run_until_arrived(first));
      CHECK(copy_at(ensembles, 0)->version == 6);
      mine.move_to(layout_at(0), moved.handler());
      ensembles.world.run_for(std::chrono::milliseconds{20});
      CHECK(copy_at(ensembles, 0)->version == 6);
      claim.now.waits_at = "west";
      CHECK(ensembles.world.run_until_arrived(moved));
    }
    CHECK(copy_at(ensembles, 0)->version == 9);
    CHECK(mine.end(ensembles));
    CHECK(other.end(ensembles));
  }
}

TEST_CASE("moving map: a member from before its ensemble was out of the map keeps a move waiting",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  publish_by_hand(ensembles, 9, 1);
  const std::string member = std::string{copy_path} + "/members/3/1-other";
  ensembles.make(1, member, {});
  MapProcess mine{ensembles, "mine"};
  Outcome<> moved;
  mine.move_to(layout_at(0), moved.handler());
  ensembles.world.run_for(std::chrono::milliseconds{20});
  CHECK(copy_at(ensembles, 0)->version == 9);
  ensembles.west.operate(request::Remove{.path = member});
  CHECK(ensembles.world.run_until_arrived(moved));
  CHECK(copy_at(ensembles, 0)->version == 12);
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving map: members are looked at on the session that has read the copy",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  MapProcess mine{ensembles, "mine"};
  MapProcess other{ensembles, "other"};
  ensembles.world.settle();
  // A server that has missed that the other process has joined.
  ensembles.west.leave_server_behind();
  other.follower->start_joining("west");
  REQUIRE(ensembles.world.run_until([&] { return other.follower->is_member("west"); }));
  Outcome<> moved;
  {
    FakeClaim claim{other};
    claim.now = {ClaimPhase::holding, {"east"}};
    publish_by_hand(ensembles, 4, 1);
    REQUIRE(ensembles.world.run_until([&] { return mine.follower->view()->version() == 4; }));
    const auto plan = std::make_shared<FaultsAt>("mine-west");
    bool has_expired = false;
    plan->replying = [&](std::size_t reply) {
      // With this reply the mover gets the copy; next it lists the members.
      if (reply == 0 && !std::exchange(has_expired, true)) {
        asio::post(ensembles.world.context,
                   [&] { ensembles.west.expire(mine.west->session().id); });
      }
    };
    ensembles.west.set_fault_plan(plan);
    mine.move_to(layout_at(1), moved.handler());
    ensembles.world.run_for(std::chrono::milliseconds{20});
    CHECK(has_expired);
    CHECK(copy_at(ensembles, 0)->version == 4);
    plan->replying = nullptr;
    claim.now.locks = {"east", "west"};
    CHECK(ensembles.world.run_until_arrived(moved));
  }
  CHECK(mine.end(ensembles));
  CHECK(other.end(ensembles));
}

TEST_CASE("moving map: a move to the present layout is none", "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  MapProcess mine{ensembles, "mine"};
  Outcome<> moved;
  mine.move_to(layout_at(0), moved.handler());
  REQUIRE(ensembles.world.run_until_arrived(moved));
  CHECK_FALSE(moved.error());
  CHECK(copy_at(ensembles, 0)->version == 3);
  CHECK(mine.end(ensembles));
}

/// Lets a copy be read, and not be written.
class ReadOnlyCopy final : public testing::FaultPlan {
 public:
  explicit ReadOnlyCopy(testing::FakeEnsemble& ensemble) : ensemble_{ensemble} {}
  Fault on_submit(const Submission& submission) override {
    if (submission.path != copy_path) return {};
    if (submission.kind == "set") {
      ensemble_.refuse(copy_path);
    } else {
      ensemble_.permit(copy_path);
    }
    return {};
  }

 private:
  testing::FakeEnsemble& ensemble_;
};

TEST_CASE("moving map: a publisher that may not write a copy ends, and says so", "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  MapProcess mine{ensembles, "mine"};
  ensembles.west.set_fault_plan(std::make_shared<ReadOnlyCopy>(ensembles.west));
  Outcome<> moved;
  mine.move_to(layout_at(1), moved.handler());
  REQUIRE(ensembles.world.run_until_arrived(moved));
  CHECK(moved.error() == ServerErrc::no_auth);
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving map: a layout with an ensemble without a client is refused", "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  MapProcess mine{ensembles, "mine"};
  EnsembleLayout wide = layout_at(1);
  wide.ensembles["north"] = 1;
  Outcome<> moved;
  mine.move_to(wide, moved.handler());
  REQUIRE(ensembles.world.run_until_arrived(moved));
  CHECK(moved.error() == Errc::invalid_argument);
  CHECK(copy_at(ensembles, 0)->version == 3);
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving map: the folders of a move that is over are removed by the next one",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  MapProcess mine{ensembles, "mine"};
  for (const std::size_t home : {1U, 0U}) {
    Outcome<> moved;
    mine.move_to(layout_at(home), moved.handler());
    REQUIRE(ensembles.world.run_until_arrived(moved));
    CHECK_FALSE(moved.error());
  }
  const std::string folders = std::string{copy_path} + "/members";
  CHECK(ensembles.west.children(folders) == std::vector<std::string>{"7", "8", "9"});
  CHECK(mine.end(ensembles));
}

}  // namespace
}  // namespace custodian::tests::moving_publisher_test
