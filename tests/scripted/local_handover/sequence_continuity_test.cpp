// A client places a contender behind its previous one without a listing, if their sequence numbers
// are consecutive and both belong to the same incarnation of the parent node.

#include "local_handover/sequence_continuity.hpp"

#include <algorithm>
#include <deque>
#include <optional>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::sequence_continuity_test {
namespace {

using recipes_detail::follows;

class Crowd {
 public:
  using Place = Outcome<Lease>;

  ~Crowd() {
    places.clear();
    mutex.reset();
    others_mutex.reset();
    CHECK(world.end(mine));
    CHECK(world.end(other));
  }

  /// Queues enough contenders for the client to begin to compare their sequence numbers.
  void gather() {
    for (std::size_t i = 0; i < 5; ++i) queue();
  }
  Place& queue() {
    Place& place = places.emplace_back();
    mutex->async_acquire(place.handler());
    world.settle();
    return place;
  }
  /// Releases all but the last contender, which holds the lock then.
  Place& leave_the_last() {
    while (places.size() > 1) {
      places.front().result().release();
      places.pop_front();
      world.settle();
    }
    REQUIRE(places.front().arrived());
    return places.front();
  }
  [[nodiscard]] std::size_t sent_by_mine(std::string_view kind) const {
    const auto history = world.ensemble.history();
    return static_cast<std::size_t>(std::ranges::count_if(history, [&](const Submission& each) {
      return each.client == "mine" && each.kind == kind;
    }));
  }

  World world;
  std::unique_ptr<Client> mine = world.client("mine");
  std::unique_ptr<Client> other = world.client("other");
  std::optional<InterProcessMutex> mutex{std::in_place, *mine, "/lock"};
  std::optional<InterProcessMutex> others_mutex{std::in_place, *other, "/lock"};
  std::deque<Place> places;
};

TEST_CASE("numbers: one follows another only if both were told of the same parent") {
  CHECK(follows({6, 1}, {5, 1}));
  CHECK_FALSE(follows({7, 1}, {5, 1}));
  CHECK_FALSE(follows({5, 1}, {5, 1}));
  CHECK_FALSE(follows({4, 1}, {5, 1}));
  CHECK_FALSE(follows({6, 2}, {5, 1}));
  CHECK_FALSE(follows({6, 0}, {5, 0}));
}

TEST_CASE("numbers: in a crowd of one client nobody lists the queue") {
  Crowd crowd;
  crowd.gather();
  crowd.world.ensemble.clear_history();
  auto& last = crowd.queue();
  CHECK(crowd.sent_by_mine("create") == 1);
  CHECK(crowd.sent_by_mine("children") == 0);
  crowd.leave_the_last();
  REQUIRE(last.arrived());
  CHECK(crowd.sent_by_mine("children") == 0);
  // The sequence goes on where it was left, even behind a contender that is gone.
  last.result().release();
  auto& next = crowd.queue();
  CHECK(next.arrived());
}

TEST_CASE("numbers: who comes just when the last one leaves is not forgotten") {
  Crowd crowd;
  crowd.gather();
  auto& last = crowd.leave_the_last();
  const auto plan = std::make_shared<FaultsAt>("mine");
  // Before the first reply arrives both nodes exist, but the client does not know it yet.
  plan->replying = [&](std::size_t reply) {
    if (reply == 0) last.result().release();
  };
  crowd.world.ensemble.set_fault_plan(plan);
  auto& first = crowd.places.emplace_back();
  auto& second = crowd.places.emplace_back();
  crowd.mutex->async_acquire(first.handler());
  crowd.mutex->async_acquire(second.handler());
  REQUIRE(crowd.world.run_until_arrived(first));
  first.result().release();
  REQUIRE(crowd.world.run_until_arrived(second));
  CHECK_FALSE(second.error());
}

TEST_CASE("numbers: somebody else's contender in between is not passed over") {
  Crowd crowd;
  crowd.gather();
  Crowd::Place others;
  crowd.others_mutex->async_acquire(others.handler());
  crowd.world.settle();
  auto& behind = crowd.queue();
  while (crowd.places.size() > 1) {
    crowd.places.front().result().release();
    crowd.places.pop_front();
    crowd.world.settle();
  }
  REQUIRE(others.arrived());
  CHECK_FALSE(behind.arrived());
  others.result().release();
  REQUIRE(crowd.world.run_until_arrived(behind));
}

TEST_CASE("numbers: a writer right behind its client's last reader waits for another's reader") {
  Crowd crowd;
  InterProcessReadWriteLock mine{*crowd.mine, "/shared"};
  InterProcessReadWriteLock others{*crowd.other, "/shared"};
  Crowd::Place other_reads;
  others.read().async_acquire(other_reads.handler());
  REQUIRE(crowd.world.run_until_arrived(other_reads));
  std::deque<Crowd::Place> readers;
  for (int i = 0; i < 5; ++i) {
    mine.read().async_acquire(readers.emplace_back().handler());
    crowd.world.settle();
    REQUIRE(readers.back().arrived());
  }
  for (; readers.size() > 1; readers.pop_front()) readers.front().result().release();
  crowd.world.settle();
  const auto plan = std::make_shared<FaultsAt>("mine");
  // Before the first reply arrives the writer's node exists, but the client does not know it yet.
  plan->replying = [&](std::size_t reply) {
    if (reply == 0) readers.front().result().release();
  };
  crowd.world.ensemble.set_fault_plan(plan);
  Crowd::Place writes;
  mine.write().async_acquire(writes.handler());
  crowd.world.settle();
  crowd.world.ensemble.set_fault_plan(nullptr);
  CHECK_FALSE(writes.arrived());
  other_reads.result().release();
  REQUIRE(crowd.world.run_until_arrived(writes));
}

TEST_CASE("numbers: those of a lock that was made anew are not compared with the old ones") {
  Crowd crowd;
  crowd.gather();
  Lease holder = std::move(crowd.leave_the_last().result());
  crowd.places.clear();
  const std::string node = holder.node();
  const int number = std::stoi(node.substr(node.size() - 10));

  // An operator deletes the holder's node, the empty parent node is removed, and another client
  // acquires. By chance the client's next contender gets the number after the old holder's; but the
  // other client is in front of it.
  crowd.world.remove(node);
  crowd.world.remove("/lock");
  Crowd::Place others;
  crowd.others_mutex->async_acquire(others.handler());
  REQUIRE(crowd.world.run_until_arrived(others));
  crowd.world.ensemble.set_next_sequence("/lock", number + 1);
  auto& next = crowd.queue();
  holder.release();
  crowd.world.settle();
  CHECK_FALSE(next.arrived());
  others.result().release();
  REQUIRE(crowd.world.run_until_arrived(next));
  CHECK_FALSE(next.error());
}

TEST_CASE("numbers: a new connection asks for them anew") {
  Crowd crowd;
  crowd.gather();
  crowd.world.ensemble.disconnect(crowd.mine->session().id);
  REQUIRE(crowd.world.run_until([&] { return !is_connected(crowd.mine->connection_state()); }));
  REQUIRE(crowd.world.run_until([&] { return is_connected(crowd.mine->connection_state()); }));
  crowd.world.settle();
  crowd.world.ensemble.clear_history();
  crowd.queue();
  CHECK(crowd.sent_by_mine("children") == 1);
  crowd.queue();
  crowd.queue();
  crowd.world.ensemble.clear_history();
  crowd.queue();
  CHECK(crowd.sent_by_mine("children") == 0);
  crowd.leave_the_last();
}

}  // namespace
}  // namespace custodian::tests::sequence_continuity_test
