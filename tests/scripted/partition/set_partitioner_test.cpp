// Members that share shards: they come, go, lose their sessions, and are slow to give shards up.

#include "custodian/partition/set_partitioner.hpp"

#include <algorithm>
#include <iostream>
#include <map>

#include "custodian/locks/inter_process_mutex.hpp"
#include "partition/shard_plan.hpp"
#include "scripted/ending_world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::set_partitioner_test {
namespace {

constexpr auto path = "/p";

std::vector<std::string> names(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back("s" + std::to_string(i));
  return all;
}

/// The member that works on each shard now. Two members at once are a violation.
struct Work {
  std::map<std::string, std::string> by_shard;
  std::string violation;

  void begin(const std::string& shard, const std::string& member) {
    if (!by_shard.emplace(shard, member).second) violation = "two work on " + shard;
  }
  void end(const std::string& shard) { by_shard.erase(shard); }
};

/// A member that works on each of its shards until it is asked to stop.
class Member {
 public:
  Member(EndingWorld& world, Work& work, std::string id, int shards)
      : work_{work}, id_{std::move(id)}, client_{world.client(id_)} {
    partitioner_.emplace(*client_, path, names(shards), id_,
                         [this](OwnedShard shard) { begin(std::move(shard)); });
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  ~Member() { held_.clear(); }

  /// Ends the work on each shard of which a stop is requested, or whose lease is lost.
  void end_stopped() {
    if (is_slow) return;
    std::erase_if(held_, [this](const OwnedShard& each) {
      if (!each.stop.stop_requested()) return false;
      work_.end(each.name);
      return true;
    });
  }
  void close() { partitioner_->close(); }
  [[nodiscard]] std::size_t size() const { return held_.size(); }
  [[nodiscard]] Client& client() { return *client_; }
  [[nodiscard]] SetPartitioner& partitioner() { return *partitioner_; }
  bool end(World& world) {
    if (!client_) return true;
    partitioner_.reset();
    for (const OwnedShard& each : held_) work_.end(each.name);
    held_.clear();
    return world.end(client_);
  }

  bool is_slow = false;

 private:
  void begin(OwnedShard shard) {
    if (!partitioner_) return;
    work_.begin(shard.name, id_);
    held_.push_back(std::move(shard));
  }

  Work& work_;
  const std::string id_;
  std::unique_ptr<Client> client_;
  std::vector<OwnedShard> held_;
  std::optional<SetPartitioner> partitioner_;
};

struct Group {
  static constexpr int shards = 12;

  Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() {
    for (const auto& each : members) each->end(world);
  }

  Member& join(const std::string& id) {
    return *members.emplace_back(std::make_unique<Member>(world, work, id, shards));
  }
  bool run_until(const std::function<bool()>& condition) {
    return world.run_until([&] {
      for (const auto& each : members) each->end_stopped();
      return condition() || !work.violation.empty();
    });
  }
  /// Whether each shard is worked on by the member that the plan says.
  [[nodiscard]] bool is_as_planned(const std::set<std::string>& ids) const {
    if (work.by_shard.size() != static_cast<std::size_t>(shards)) return false;
    return std::ranges::all_of(work.by_shard, [&](const auto& each) {
      return recipes_detail::owner_of_shard(each.first, ids) == each.second;
    });
  }
  bool until_planned(const std::set<std::string>& ids) {
    return run_until([&] { return is_as_planned(ids); });
  }

  EndingWorld world;
  Work work;
  std::vector<std::unique_ptr<Member>> members;
};

TEST_CASE(
    "partitioner: one member owns all shards, two share them, and one that leaves returns its",
    "[partition]") {
  Group group;
  Member& a = group.join("a");
  REQUIRE(group.until_planned({"a"}));
  CHECK(a.partitioner().shards().size() == Group::shards);
  CHECK(a.partitioner().members() == std::vector<std::string>{"a"});
  Member& b = group.join("b");
  REQUIRE(group.until_planned({"a", "b"}));
  CHECK(a.partitioner().shards().size() + b.partitioner().shards().size() == Group::shards);
  CHECK(b.size() > 0);
  CHECK(b.size() < Group::shards);
  b.close();
  REQUIRE(group.until_planned({"a"}));
  CHECK(group.work.violation.empty());
  CHECK(b.size() == 0);
}

TEST_CASE("partitioner: a shard moves only when the work on it has ended", "[partition]") {
  Group group;
  Member& a = group.join("a");
  REQUIRE(group.until_planned({"a"}));
  a.is_slow = true;
  Member& b = group.join("b");
  REQUIRE(group.run_until([&] {
    return b.partitioner().members().size() == 2 &&
           a.partitioner().shards().size() < static_cast<std::size_t>(Group::shards);
  }));
  group.world.settle();
  CHECK(b.size() == 0);
  CHECK(a.size() == Group::shards);
  a.is_slow = false;
  CHECK(group.until_planned({"a", "b"}));
  CHECK(group.work.violation.empty());
}

TEST_CASE("partitioner: the shards of a lost session are asked to stop, and move", "[partition]") {
  Group group;
  Member& a = group.join("a");
  group.join("b");
  REQUIRE(group.until_planned({"a", "b"}));
  group.world.ensemble.expire(a.client().session().id);
  // It is a member again, with another session.
  REQUIRE(group.run_until([&] { return a.size() == 0; }));
  CHECK(group.until_planned({"a", "b"}));
  CHECK(group.work.violation.empty());
}

TEST_CASE("partitioner: a shard that is released early comes back", "[partition]") {
  EndingWorld world;
  const auto client = world.client("a");
  int given = 0;
  {
    SetPartitioner partitioner{*client, path, {"s"}, "a", [&](const OwnedShard&) { ++given; }};
    CHECK(world.run_until([&] { return given == 2; }));
  }
  CHECK(world.run_until_idle(*client));
}

TEST_CASE("partitioner: no call of the listener begins after the close, and its shard is free",
          "[partition]") {
  EndingWorld world;
  const auto client = world.client("a");
  int given = 0;
  std::optional<SetPartitioner> partitioner{std::in_place, *client,
                                            path,          std::vector<std::string>{"s"},
                                            "a",           [&](const OwnedShard&) { ++given; }};
  // The shard is owned, and the call of the listener is posted.
  REQUIRE(world.run_until([&] { return !partitioner->shards().empty(); }));
  const int before = given;
  partitioner.reset();
  CHECK(world.run_until_idle(*client));
  CHECK(given == before);
  CHECK(before == 0);
  CHECK(world.run_until([&] { return world.ensemble.children("/p/locks/s").empty(); }));
}

TEST_CASE("partitioner: the end of the client ends it", "[partition]") {
  Group group;
  Member& a = group.join("a");
  REQUIRE(group.until_planned({"a"}));
  CHECK(a.end(group.world));
  CHECK(group.world.ensemble.children("/p/party").empty());
  CHECK(group.world.ensemble.watches() == 0);
}

TEST_CASE("partitioner: a client that closes in order does not stand for its shards again",
          "[partition]") {
  EndingWorld world;
  const auto client = world.client("a");
  InterProcessMutex mutex{*client, "/lock"};
  auto held = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
  REQUIRE(held.arrived());
  std::optional<OwnedShard> owned;
  const SetPartitioner partitioner{
      *client, path, {"s"}, "a", [&](OwnedShard shard) { owned = std::move(shard); }};
  REQUIRE(world.run_until([&] { return owned.has_value(); }));
  Outcome<bool> closed;
  client->async_close(Deadline::never(), closed.handler());
  world.settle();
  owned.reset();
  world.settle();
  CHECK_FALSE(closed.arrived());
  CHECK_FALSE(owned.has_value());
  held.result().release();
  REQUIRE(world.run_until_arrived(closed));
  CHECK(closed.result());
}

TEST_CASE("partitioner: bad arguments are refused at once", "[partition]") {
  EndingWorld world;
  const auto client = world.client("a");
  const auto nothing = [](const OwnedShard&) {};
  const auto make = [&](std::string at, std::vector<std::string> shards, std::string id,
                        SetPartitioner::Listener listener) {
    const SetPartitioner made{*client, std::move(at), std::move(shards), std::move(id),
                              std::move(listener)};
  };
  CHECK_THROWS_AS(make("p", {"s"}, "a", nothing), Error);
  CHECK_THROWS_AS(make("/p", {"s", "s"}, "a", nothing), Error);
  CHECK_THROWS_AS(make("/p", {"s/t"}, "a", nothing), Error);
  CHECK_THROWS_AS(make("/p", {""}, "a", nothing), Error);
  CHECK_THROWS_AS(make("/p", {"s"}, "", nothing), Error);
  CHECK_THROWS_AS(make("/p", {"s"}, "a/b", nothing), Error);
  CHECK_THROWS_AS(make("/p", {"s"}, "a", nullptr), Error);
}

TEST_CASE("partitioner: members share the shards through every fault, and never own one twice",
          "[partition]") {
  int cases = 0;
  const auto play = [&](const std::vector<std::pair<std::size_t, Fault>>& faults) {
    ++cases;
    Group group;
    const auto plan = std::make_shared<FaultsAt>("a", faults);
    group.world.ensemble.set_fault_plan(plan);
    group.join("a");
    group.join("b");
    INFO((faults.empty() ? ""
                         : std::to_string(faults[0].first) + ": " + describe(faults[0].second)));
    CHECK(group.until_planned({"a", "b"}));
    const std::size_t steps = plan->steps();
    CHECK(group.work.violation.empty());
    group.world.ensemble.set_fault_plan(nullptr);
    for (const auto& each : group.members) CHECK(each->end(group.world));
    return steps;
  };
  const std::size_t steps = play({});
  for (std::size_t at = 0; at < steps; ++at) {
    for (const Fault& fault : sampled(all_faults())) play({{at, fault}});
  }
  std::cout << "  " << cases << " cases: members that share shards\n";
}

}  // namespace
}  // namespace custodian::tests::set_partitioner_test
