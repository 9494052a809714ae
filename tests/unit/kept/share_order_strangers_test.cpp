// ShareOrder when it is asked about nodes that it does not have (any more), and with several nodes
// at a time.

#include "kept/share_order.hpp"
#include "support/catch.hpp"

namespace custodian::tests::share_order_strangers_test {
namespace {

using namespace recipes_detail;
using Readers = std::vector<ShareOrder::Reader>;
using Nodes = std::vector<ShareOrder::Node>;

constexpr ShareOrder::Node stranger = 7;
constexpr Sequence own_number = 10;

bool is_nothing(const ShareOrder::Next& next) {
  return next.hold.empty() && !next.create && !next.list && next.end.empty();
}

/// Lets one reader have the lock, as if nothing had been before.
void serve_one(ShareOrder& order) {
  const auto entry = order.enter();
  REQUIRE(entry.next.create == ShareOrder::Node{1});
  order.on_sent(1);
  order.on_asked();
  CHECK(is_nothing(order.on_queued(1, own_number)));
  CHECK(is_nothing(order.on_listed({})));
  const auto granted = order.on_granted(1, false);
  CHECK(granted.held == 1);
  CHECK(granted.hold == Readers{entry.reader});
  CHECK(order.newest() == 1);
  CHECK(order.on_released(1, true).end == Nodes{1});
  CHECK_FALSE(order.has_node());
}

TEST_CASE("share order: a node that the order does not have changes nothing") {
  ShareOrder order{64};
  SECTION("the create is sent") { order.on_sent(stranger); }
  SECTION("the node is in the queue") { CHECK(is_nothing(order.on_queued(stranger, own_number))); }
  SECTION("the lock is granted") {
    const auto granted = order.on_granted(stranger, true);
    CHECK(is_nothing(granted));
    CHECK(granted.held == 0);
  }
  SECTION("the node has failed") {
    const auto failure = order.on_ended(stranger);
    CHECK(failure.failed.empty());
    CHECK(is_nothing(failure.next));
  }
  SECTION("a reader has released") { CHECK(is_nothing(order.on_released(stranger, true))); }
  CHECK_FALSE(order.has_node());
  serve_one(order);
}

TEST_CASE("share order: an earlier node whose readers have given up leaves the newest in place") {
  ShareOrder order{64};
  const auto first = order.enter();
  order.on_sent(1);
  order.on_asked();
  CHECK(is_nothing(order.on_queued(1, own_number)));
  CHECK(is_nothing(order.on_listed(own_number + 1)));
  const auto second = order.enter();
  REQUIRE(second.next.create == ShareOrder::Node{2});
  CHECK(order.leave(first.reader).next.end == Nodes{1});
  // The lock was granted before the delete arrived.
  CHECK(is_nothing(order.on_granted(1, false)));
  CHECK(order.newest() == 2);
}

TEST_CASE("share order: a writer with the same number is no writer behind the node") {
  ShareOrder order{64};
  static_cast<void>(order.enter());
  order.on_sent(1);
  order.on_asked();
  CHECK(is_nothing(order.on_queued(1, own_number)));
  CHECK(is_nothing(order.on_listed(own_number)));
  CHECK_FALSE(order.is_retired(1));
  CHECK(order.on_granted(1, false).hold.size() == 1);
  CHECK(order.join());
}

}  // namespace
}  // namespace custodian::tests::share_order_strangers_test
