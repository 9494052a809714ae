// The copy of a moving map, and its members, when others act between two requests.

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "custodian/authoring/spawn.hpp"
#include "ensembles/copy_requests.hpp"
#include "scripted/ensembles/moving_world.hpp"

namespace custodian::tests::copy_moments_test {
namespace {

using namespace moving_world;
using namespace std::chrono_literals;
using recipes_detail::Announced;
using recipes_detail::CopyPlace;
using recipes_detail::CopyPlacePtr;
using recipes_detail::CopyRead;
using recipes_detail::is_passing;
using recipes_detail::Membership;

const std::string members_path = std::string{copy_path} + "/members";

/// One client of the first ensemble, called "mine".
struct AtEast {
  explicit AtEast(Ensembles& its_ensembles, Faults faults = {})
      : ensembles{its_ensembles},
        plan{std::make_shared<FaultsAt>("mine", std::move(faults))},
        client{make_client()},
        place{std::make_shared<const CopyPlace>(CopyPlace{
            .name = "east", .client = client->share(), .path = copy_path, .member = "mine"})},
        cancellation{std::make_shared<Cancellation>(client->core())} {
    ensembles.world.ensemble.set_fault_plan(plan);
  }
  AtEast(const AtEast&) = delete;
  AtEast& operator=(const AtEast&) = delete;
  ~AtEast() { plan->submitted = nullptr; }

  std::unique_ptr<Client> make_client() const {
    ClientOptions options = ensembles.world.options("mine");
    options.retry = RetryPolicy::n_times(0, 1ms);
    return ensembles.world.client(std::move(options));
  }
  /// Acts when this request is sent.
  void at(std::size_t step, std::function<void()> act) {
    plan->submitted = [step, act = std::move(act)](std::size_t now) {
      if (now == step) act();
    };
  }
  void cancel_soon() const {
    boost::asio::post(ensembles.world.context,
                      [requested = cancellation] { requested->request(); });
  }
  [[nodiscard]] Outcome<Membership> join() {
    Outcome<Membership> joined;
    spawn(client->core(), "a join", recipes_detail::join_map(place, 0, cancellation),
          joined.handler());
    REQUIRE(ensembles.world.run_until_arrived(joined));
    return joined;
  }
  [[nodiscard]] Outcome<Announced> announce(std::int64_t session) {
    Outcome<Announced> announced;
    spawn(client->core(), "an announcement",
          recipes_detail::announce(place, session, 3, 4, cancellation), announced.handler());
    REQUIRE(ensembles.world.run_until_arrived(announced));
    return announced;
  }

  Ensembles& ensembles;
  const std::shared_ptr<FaultsAt> plan;
  std::unique_ptr<Client> client;
  const CopyPlacePtr place;
  const CancellationPtr cancellation;
};

constexpr Fault lost_reply{.kind = FaultKind::fail_after};

TEST_CASE("moving members: an error passes unless the servers refuse, or the client is at its end",
          "[ensembles]") {
  for (const error_code each :
       {make_error_code(Errc::session_lost), make_error_code(ServerErrc::session_expired),
        make_error_code(ServerErrc::bad_version), make_error_code(ServerErrc::no_node),
        make_error_code(ServerErrc::node_exists), make_error_code(ServerErrc::connection_loss),
        make_error_code(Errc::not_connected)}) {
    INFO(each.message());
    CHECK(is_passing(each));
  }
  CHECK_FALSE(is_passing(ServerErrc::no_auth));
  CHECK_FALSE(is_passing(Errc::closed));
  CHECK_FALSE(is_passing(boost::asio::error::operation_aborted));
}

TEST_CASE("moving members: a join that was applied counts, though the copy has changed since",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  AtEast mine{ensembles, {{1, lost_reply}}};
  mine.at(2, [&] { publish_by_hand(ensembles, 4, 1); });
  const auto joined = mine.join();
  REQUIRE_FALSE(joined.error());
  CHECK(joined.result().version == 3);
  CHECK(members_at(ensembles, 0).size() == 1);
}

TEST_CASE("moving members: a join in doubt stays in doubt while it cannot be sent", "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  AtEast mine{ensembles, {{1, lost_reply}, {2, {.kind = FaultKind::disconnect}}}};
  mine.at(3, [&] { publish_by_hand(ensembles, 4, 1); });
  const auto joined = mine.join();
  REQUIRE_FALSE(joined.error());
  CHECK(joined.result().version == 3);
  CHECK(members_at(ensembles, 0).size() == 1);
}

TEST_CASE("moving members: a join that is cancelled while it looks for its node leaves none",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  AtEast mine{ensembles, {{1, lost_reply}, {3, {.kind = FaultKind::delay, .turns = 50}}}};
  mine.plan->submitted = [&](std::size_t step) {
    if (step == 2) publish_by_hand(ensembles, 4, 1);
    if (step == 3) mine.cancel_soon();
  };
  const auto joined = mine.join();
  CHECK(joined.error() == boost::asio::error::operation_aborted);
  CHECK(ensembles.world.run_until([&] { return members_at(ensembles, 0).empty(); }));
}

TEST_CASE("moving members: a folder that an operator deletes under way makes a join begin anew",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  AtEast mine{ensembles, {{1, {.kind = FaultKind::fail_before}}}};
  mine.plan->submitted = [&](std::size_t step) {
    if (step == 2) ensembles.world.remove(members_path + "/3");
    if (step == 4) ensembles.world.make(members_path + "/3");
  };
  const auto joined = mine.join();
  REQUIRE_FALSE(joined.error());
  CHECK(joined.result().version == 3);
  CHECK(members_at(ensembles, 0).size() == 1);
}

TEST_CASE("moving members: a join waits for the copy until it is cancelled", "[ensembles]") {
  Ensembles ensembles;
  AtEast mine{ensembles, {{1, {.kind = FaultKind::delay, .turns = 50}}}};
  mine.at(1, [&] { mine.cancel_soon(); });
  CHECK(mine.join().error() == boost::asio::error::operation_aborted);
  CHECK(mine.plan->steps() == 2);
}

TEST_CASE("moving members: a copy that is created between two reads is joined", "[ensembles]") {
  Ensembles ensembles;
  AtEast mine{ensembles};
  mine.at(1, [&] { make_map(ensembles); });
  const auto joined = mine.join();
  REQUIRE_FALSE(joined.error());
  CHECK(members_at(ensembles, 0).size() == 1);
}

TEST_CASE("moving members: a copy that cannot be read is an error of a join", "[ensembles]") {
  Ensembles ensembles;
  ensembles.make(0, "/custodian", {});
  ensembles.make(0, copy_path, "hello");
  AtEast mine{ensembles};
  CHECK(mine.join().error() == Errc::malformed_data);
}

TEST_CASE("moving members: a read without a connection ends at its deadline", "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  AtEast mine{ensembles};
  ensembles.world.ensemble.stop();
  Outcome<CopyRead> read;
  const OperationOptions limits{.deadline = Deadline{brief_limit}};
  spawn(mine.client->core(), "a read",
        recipes_detail::read_copy(mine.place, mine.cancellation, limits), read.handler());
  REQUIRE(ensembles.world.run_until_arrived(read));
  CHECK(read.error() == Errc::deadline_exceeded);
  ensembles.world.ensemble.start();
}

TEST_CASE("moving members: a member that an operator has deleted does not announce",
          "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  AtEast mine{ensembles};
  const auto joined = mine.join();
  REQUIRE_FALSE(joined.error());
  publish_by_hand(ensembles, 4, 1);
  ensembles.world.ensemble.remove_tree(members_path + "/3");
  const auto announced = mine.announce(joined.result().session);
  REQUIRE_FALSE(announced.error());
  CHECK(announced.result() == Announced::session_lost);
  CHECK(members_at(ensembles, 0).empty());
}

TEST_CASE("moving members: an announcement that the servers refuse ends", "[ensembles]") {
  Ensembles ensembles;
  make_map(ensembles);
  AtEast mine{ensembles};
  const auto joined = mine.join();
  REQUIRE_FALSE(joined.error());
  publish_by_hand(ensembles, 4, 1);
  ensembles.world.ensemble.refuse(members_path + "/4");
  CHECK(mine.announce(joined.result().session).error() == ServerErrc::no_auth);
  CHECK(members_at(ensembles, 0).begin()->first == 3);
}

// -- The follower ---------------------------------------------------------------------------------

TEST_CASE("moving map: a copy that is none is passed over, until a copy is written",
          "[ensembles]") {
  Ensembles ensembles;
  ensembles.make(0, "/custodian", {});
  ensembles.make(0, copy_path, "hello");
  MapProcess mine{ensembles, "mine"};
  REQUIRE(ensembles.world.run_until([&] { return ensembles.world.ensemble.watches() > 0; }));
  CHECK_FALSE(mine.follower->view());
  MapCopy copy{.generations = {layout_at(0)}};
  copy.generations.front().version = 1;
  ensembles.world.ensemble.operate(
      request::Set{.path = copy_path, .data = recipes_detail::encode(copy)});
  CHECK(ensembles.world.run_until([&] { return mine.follower->view() != nullptr; }));
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving map: a copy that is created between two reads is learnt", "[ensembles]") {
  Ensembles ensembles;
  const auto plan = std::make_shared<FaultsAt>("mine-east");
  plan->submitted = [&](std::size_t step) {
    if (step != 1) return;
    MapCopy copy{.generations = {layout_at(0)}};
    copy.generations.front().version = 1;
    ensembles.make(0, "/custodian", {});
    ensembles.make(0, copy_path, recipes_detail::encode(copy));
  };
  ensembles.world.ensemble.set_fault_plan(plan);
  MapProcess mine{ensembles, "mine"};
  CHECK(ensembles.world.run_until([&] { return mine.follower->view() != nullptr; }));
  CHECK(mine.end(ensembles));
}

TEST_CASE("moving map: an ensemble without a copy has the version 0", "[ensembles]") {
  Ensembles ensembles;
  MapProcess mine{ensembles, "mine"};
  Outcome<std::int64_t> version;
  const auto cancellation = std::make_shared<Cancellation>(mine.east->core());
  spawn(mine.east->core(), "a read", mine.follower->read_version("west", cancellation, {}),
        version.handler());
  REQUIRE(ensembles.world.run_until_arrived(version));
  CHECK_FALSE(version.error());
  CHECK(version.result() == 0);
  CHECK(mine.end(ensembles));
}

/// A claim that removes another one when it is notified.
class RemovingClaim final : public recipes_detail::MapClaim {
 public:
  explicit RemovingClaim(recipes_detail::MapFollower& follower) : follower_{follower} {
    follower_.add(*this);
  }
  RemovingClaim(const RemovingClaim&) = delete;
  RemovingClaim& operator=(const RemovingClaim&) = delete;
  ~RemovingClaim() override { follower_.remove(*this); }

  [[nodiscard]] const std::string& path() const noexcept override { return path_; }
  [[nodiscard]] ClaimState state() const override { return {}; }
  void on_map() override {
    ++changes;
    if (other != nullptr) follower_.remove(*other);
  }

  int changes = 0;
  RemovingClaim* other = nullptr;

 private:
  recipes_detail::MapFollower& follower_;
  const std::string path_ = moving_path;
};

TEST_CASE("moving map: a claim that another claim has ended is not notified any more",
          "[ensembles]") {
  Ensembles ensembles;
  MapProcess mine{ensembles, "mine"};
  ensembles.world.settle();
  {
    RemovingClaim one{*mine.follower};
    RemovingClaim other{*mine.follower};
    one.other = &other;
    other.other = &one;
    make_map(ensembles);
    REQUIRE(ensembles.world.run_until([&] { return mine.follower->view() != nullptr; }));
    ensembles.world.settle();
    CHECK((one.changes == 0) != (other.changes == 0));
  }
  CHECK(mine.end(ensembles));
}

}  // namespace
}  // namespace custodian::tests::copy_moments_test
