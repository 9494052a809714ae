// The departure of a member with several others right behind it.

#include "local_handover/local_order.hpp"
#include "support/catch.hpp"

namespace custodian::tests::local_order_departures_test {
namespace {

using namespace recipes_detail;
using Members = std::vector<LocalEntry*>;

TEST_CASE("a second downgrade's reader stays behind the first one's when the writer is lost",
          "[local_order]") {
  LocalEntry writer{ContenderKind::exclusive};
  REQUIRE(grant(writer) == Members{&writer});
  LocalEntry first{ContenderKind::shared};
  LocalEntry second{ContenderKind::shared};
  LocalEntry waiter{ContenderKind::exclusive};
  join_beside(first, &writer);
  static_cast<void>(stand_behind(waiter, first));
  join_beside(second, &writer);
  REQUIRE(first.ahead == &second);
  const Departure lost = leave(writer, false);
  CHECK(lost.successor == &second);
  // A reader that has the lock has no predecessor to look for.
  CHECK(lost.look_again.empty());
  CHECK(first.ahead == &second);
  CHECK(waiter.ahead == &first);
}

TEST_CASE("of several readers behind a reader that leaves, the first one is the successor",
          "[local_order]") {
  LocalEntry first{ContenderKind::shared};
  REQUIRE(grant(first) == Members{&first});
  LocalEntry second{ContenderKind::shared};
  LocalEntry third{ContenderKind::shared};
  CHECK(stand_behind(second, first) == Members{&second});
  CHECK(stand_behind(third, first) == Members{&third});
  const Departure departure = leave(first, true);
  CHECK(departure.successor == &second);
  CHECK(departure.granted.empty());
}

}  // namespace
}  // namespace custodian::tests::local_order_departures_test
