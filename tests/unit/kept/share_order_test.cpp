// ShareOrder, step by step. Names in capitals are the guards of docs/model/shared_readers.pml.

#include "kept/share_order.hpp"

#include "support/catch.hpp"

namespace custodian::recipes_detail::share_order_test {
namespace {

using Node = ShareOrder::Node;
using Reader = ShareOrder::Reader;
using Readers = std::vector<Reader>;
using Nodes = std::vector<Node>;

constexpr Sequence own_number = 10;

/// An order whose first reader holds the lock by its first node.
struct Held {
  explicit Held(std::int64_t most_readers = 64, bool keeps = false) : order{most_readers} {
    first = order.enter().reader;
    order.on_sent(1);
    order.on_asked();
    static_cast<void>(order.on_queued(1, own_number));
    static_cast<void>(order.on_listed({}));
    static_cast<void>(order.on_granted(1, keeps));
  }
  ShareOrder order;
  Reader first = 0;
};

TEST_CASE("share order: the first reader gets a node, and those that come meanwhile join it") {
  ShareOrder order{64};
  const auto first = order.enter();
  CHECK(first.next.create == Node{1});
  order.on_sent(1);
  order.on_asked();
  const auto second = order.enter();
  CHECK_FALSE(second.next.create);
  CHECK_FALSE(order.on_queued(1, own_number).create);
  CHECK_FALSE(order.on_listed({}).create);
  const auto third = order.enter();
  CHECK_FALSE(third.next.create);
  CHECK_FALSE(order.join());
  const auto granted = order.on_granted(1, false);
  CHECK(granted.held == 1);
  CHECK(granted.hold == Readers{first.reader, second.reader, third.reader});
  CHECK(order.join());
}

TEST_CASE("share order: a node is deleted with its last reader (LAST_HOLD)") {
  Held held;
  CHECK(held.order.join());
  CHECK(held.order.on_released(1, true).end.empty());
  CHECK(held.order.on_released(1, true).end == Nodes{1});
  CHECK_FALSE(held.order.has_node());
  CHECK_FALSE(held.order.join());
}

TEST_CASE("share order: a node serves no more readers than it may (SHARE_LIMIT)") {
  Held held{2};
  CHECK(held.order.join());
  CHECK_FALSE(held.order.join());
  CHECK(held.order.enter().next.create == Node{2});
  // Readers that have released the lock count, too.
  static_cast<void>(held.order.on_released(1, true));
  CHECK_FALSE(held.order.join());
}

TEST_CASE("share order: a node in front of a writer is not joined (BEHIND_WRITERS)") {
  ShareOrder order{64};
  static_cast<void>(order.enter());
  static_cast<void>(order.enter());
  order.on_sent(1);
  order.on_asked();
  static_cast<void>(order.on_queued(1, own_number));
  SECTION("a writer behind it") {
    CHECK(order.on_listed(own_number + 1).create == Node{2});
    CHECK(order.on_granted(1, false).hold.size() == 1);
    CHECK_FALSE(order.join());
  }
  SECTION("a writer in front of it is no hindrance") {
    CHECK_FALSE(order.on_listed(own_number - 1).create);
    CHECK(order.on_granted(1, false).hold.size() == 2);
    CHECK(order.join());
  }
  SECTION("a node without a number is not joined") {
    CHECK(order.on_queued(1, {}).create == Node{2});
  }
}

TEST_CASE("share order: when the watch has fired nobody joins before a listing (READERS_WATCH)") {
  Held held;
  held.order.on_changed();
  CHECK_FALSE(held.order.join());
  CHECK(held.order.listing_helps());
  held.order.on_asked();
  SECTION("who comes meanwhile waits for it, and joins") {
    const auto waiting = held.order.enter();
    CHECK_FALSE(waiting.next.create);
    CHECK(held.order.on_listed({}).hold == Readers{waiting.reader});
    CHECK(held.order.join());
  }
  SECTION("or gets a node of its own") {
    CHECK_FALSE(held.order.enter().next.create);
    CHECK(held.order.on_listed(own_number + 1).create == Node{2});
  }
  SECTION("or does so if there is no answer") {
    CHECK_FALSE(held.order.enter().next.create);
    CHECK(held.order.on_not_listed().create == Node{2});
  }
  SECTION("the holder that releases before the answer leaves the node for those that wait") {
    const auto waiting = held.order.enter();
    CHECK(held.order.on_released(1, true).end.empty());
    CHECK(held.order.on_listed({}).hold == Readers{waiting.reader});
    CHECK(held.order.on_released(1, true).end == Nodes{1});
  }
  SECTION("but not if it cannot be used") {
    static_cast<void>(held.order.enter());
    CHECK(held.order.on_released(1, false).end == Nodes{1});
    CHECK(held.order.on_listed({}).create == Node{2});
  }
}

TEST_CASE("share order: the first reader that finds the queue changed asks for a listing") {
  Held held;
  held.order.on_changed();
  const auto first = held.order.enter();
  CHECK(first.next.list);
  CHECK_FALSE(first.next.create);
  const auto second = held.order.enter();
  CHECK_FALSE(second.next.list);
  CHECK(held.order.on_listed({}).hold == Readers{first.reader, second.reader});
}

TEST_CASE("share order: a node that waits is listed again when a reader comes, and not before") {
  ShareOrder order{64};
  static_cast<void>(order.enter());
  order.on_sent(1);
  order.on_asked();
  static_cast<void>(order.on_queued(1, own_number));
  static_cast<void>(order.on_listed(own_number - 1));
  order.on_changed();
  CHECK_FALSE(order.listing_helps());
  CHECK(order.enter().next.list);
  CHECK_FALSE(order.on_listed(own_number - 1).create);
  CHECK(order.on_granted(1, false).hold.size() == 2);
}

TEST_CASE("share order: a node that had a writer behind it takes no more readers") {
  Held held;
  held.order.on_changed();
  held.order.on_asked();
  static_cast<void>(held.order.on_listed(own_number + 1));
  CHECK(held.order.is_retired(1));
  // The writer gives up. That is not worth a listing.
  held.order.on_changed();
  CHECK_FALSE(held.order.listing_helps());
  static_cast<void>(held.order.on_listed(own_number - 1));
  CHECK_FALSE(held.order.join());
  CHECK(held.order.enter().next.create == Node{2});
}

TEST_CASE("share order: a writer of the client ends the joining at once (OWN_WRITER, OUTRUN)") {
  Held held;
  SECTION("while nothing is listed") {
    CHECK(held.order.on_own_writer().end.empty());
    CHECK_FALSE(held.order.join());
    CHECK(held.order.enter().next.create == Node{2});
  }
  SECTION("what is listed meanwhile does not show it") {
    held.order.on_changed();
    held.order.on_asked();
    CHECK_FALSE(held.order.enter().next.create);
    // The reader's node is created behind the writer's, and so not at this moment.
    CHECK_FALSE(held.order.on_own_writer().create);
    const auto next = held.order.on_listed({});
    CHECK(next.hold.empty());
    CHECK(next.create == Node{2});
  }
  SECTION("while a node is created") {
    static_cast<void>(held.order.on_own_writer());
    static_cast<void>(held.order.enter());
    held.order.on_sent(2);
    held.order.on_asked();
    static_cast<void>(held.order.enter());
    CHECK_FALSE(held.order.on_own_writer().create);
    CHECK(held.order.on_queued(2, own_number + 2).create == Node{3});
  }
}

TEST_CASE("share order: a listing that fails before the node is there says nothing of it") {
  ShareOrder order{64};
  static_cast<void>(order.enter());
  order.on_sent(1);
  order.on_asked();
  // The parents are made, and the create is repeated.
  static_cast<void>(order.on_not_listed());
  static_cast<void>(order.on_queued(1, own_number));
  CHECK_FALSE(order.is_retired(1));
  CHECK(order.enter().next.list);
  static_cast<void>(order.on_listed({}));
  CHECK(order.on_granted(1, false).hold.size() == 2);
}

TEST_CASE("share order: an idle node stays until a writer comes (LISTED_AGAIN)") {
  Held held{64, true};
  CHECK(held.order.on_released(1, true).end.empty());
  CHECK(held.order.is_idle(1));
  SECTION("and is joined") {
    CHECK(held.order.join());
    CHECK_FALSE(held.order.is_idle(1));
  }
  SECTION("a change alone does not end it") {
    held.order.on_changed();
    CHECK(held.order.is_idle(1));
    held.order.on_asked();
    CHECK(held.order.on_listed({}).end.empty());
    CHECK(held.order.join());
  }
  SECTION("a writer does") {
    held.order.on_changed();
    held.order.on_asked();
    CHECK(held.order.on_listed(own_number + 1).end == Nodes{1});
  }
  SECTION("a writer of the client does before it is sent") {
    CHECK(held.order.on_own_writer().end == Nodes{1});
  }
  SECTION("so does a queue that cannot be listed") {
    held.order.on_changed();
    held.order.on_asked();
    CHECK(held.order.on_not_listed().end == Nodes{1});
  }
  SECTION("a node that may not be used any more does not stay") {
    CHECK(held.order.retire(1).end == Nodes{1});
  }
  SECTION("nor one behind which a newer one is made") {
    held.order.on_changed();
    CHECK(held.order.enter().next.list);
    const auto next = held.order.on_listed(own_number + 1);
    CHECK(next.create == Node{2});
    CHECK(next.end == Nodes{1});
  }
}

TEST_CASE("share order: a node that has served all it may does not stay") {
  Held held{2, true};
  CHECK(held.order.join());
  CHECK(held.order.on_released(1, true).end.empty());
  CHECK(held.order.on_released(1, true).end == Nodes{1});
}

TEST_CASE("share order: a node does not stay if the queue is not listed") {
  ShareOrder order{64};
  static_cast<void>(order.enter());
  order.on_sent(1);
  static_cast<void>(order.on_queued(1, own_number));
  static_cast<void>(order.on_granted(1, true));
  CHECK(order.on_released(1, true).end == Nodes{1});
}

TEST_CASE("share order: readers that give up") {
  ShareOrder order{64};
  const auto first = order.enter();
  const auto second = order.enter();
  CHECK_FALSE(order.leave(second.reader + 1).waited);
  SECTION("the node leaves the queue with its last one, and others get the next node") {
    const auto exit = order.leave(first.reader);
    CHECK(exit.waited);
    CHECK(exit.next.end == Nodes{1});
    CHECK(exit.next.create == Node{2});
    CHECK_FALSE(order.leave(first.reader).waited);
    CHECK(order.on_ended(1).failed.empty());
  }
  SECTION("when it is granted nevertheless, nobody has it") {
    CHECK(order.leave(second.reader).waited);
    CHECK(order.leave(first.reader).next.end == Nodes{1});
    CHECK(order.on_granted(1, true).hold.empty());
    CHECK_FALSE(order.has_node());
  }
  SECTION("one of several") {
    order.on_sent(1);
    order.on_asked();
    static_cast<void>(order.on_queued(1, own_number));
    static_cast<void>(order.on_listed({}));
    static_cast<void>(order.enter());
    CHECK(order.leave(first.reader).next.end.empty());
    CHECK(order.on_granted(1, false).hold.size() == 2);
    CHECK_FALSE(order.leave(second.reader).waited);
  }
}

TEST_CASE("share order: a node that ends fails its readers, and those without one get another") {
  ShareOrder order{64};
  const auto first = order.enter();
  order.on_sent(1);
  order.on_asked();
  const auto second = order.enter();
  SECTION("before the answer") {
    const auto failure = order.on_ended(1);
    CHECK(failure.failed == Readers{first.reader});
    CHECK(failure.next.create == Node{2});
  }
  SECTION("after it") {
    static_cast<void>(order.on_queued(1, own_number));
    static_cast<void>(order.on_listed({}));
    CHECK(order.on_ended(1).failed == Readers{first.reader, second.reader});
    CHECK_FALSE(order.has_node());
  }
}

TEST_CASE("share order: in another session a node waits for its number, and is listed again") {
  ShareOrder order{64};
  static_cast<void>(order.enter());
  order.on_sent(1);
  order.on_asked();
  static_cast<void>(order.on_queued(1, own_number));
  static_cast<void>(order.on_listed({}));
  order.on_sent(1);
  order.on_asked();
  CHECK_FALSE(order.enter().next.create);
  static_cast<void>(order.on_queued(1, own_number + 5));
  CHECK(order.on_listed(own_number + 1).hold.empty());
  CHECK(order.on_granted(1, false).hold.size() == 2);
}

}  // namespace
}  // namespace custodian::recipes_detail::share_order_test
