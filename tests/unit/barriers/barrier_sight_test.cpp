#include "barriers/barrier_sight.hpp"

#include "support/catch.hpp"

namespace custodian::tests::barrier_sight_test {
namespace {

using recipes_detail::BarrierSight;
using recipes_detail::opens;
using recipes_detail::sight_of;

std::optional<Stat> created_by(std::int64_t transaction) { return Stat{.czxid = transaction}; }

TEST_CASE("a barrier without a node is open, whatever was seen before") {
  CHECK(sight_of(0, std::nullopt) == BarrierSight::open);
  CHECK(sight_of(5, std::nullopt) == BarrierSight::open);
}

TEST_CASE("a barrier is closed by the node that is seen first, for as long as that is there") {
  CHECK(sight_of(0, created_by(5)) == BarrierSight::closed);
  CHECK(sight_of(5, created_by(5)) == BarrierSight::closed);
}

TEST_CASE("a barrier that was set anew has been open; an earlier one says nothing") {
  CHECK(sight_of(5, created_by(6)) == BarrierSight::open);
  CHECK(sight_of(5, created_by(4)) == BarrierSight::outdated);
}

TEST_CASE("only the deletion of the node that closes it opens a barrier without another look") {
  CHECK(opens(BarrierSight::closed, WatchEventType::deleted));
  CHECK_FALSE(opens(BarrierSight::closed, WatchEventType::data_changed));
  CHECK_FALSE(opens(BarrierSight::outdated, WatchEventType::deleted));
}

}  // namespace
}  // namespace custodian::tests::barrier_sight_test
