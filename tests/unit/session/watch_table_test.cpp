#include "session/watch_table.hpp"

#include <algorithm>

#include "support/catch.hpp"

namespace custodian::tests::watch_table_test {

using custodian::error_code;
using custodian::Watcher;
using custodian::WatchEventType;
using custodian::WatchKind;
using custodian::detail::WatchTable;

namespace {

class NoWatcher final : public Watcher {
 public:
  void on_event(error_code, WatchEventType) override {}
};

using WatcherPtr = std::shared_ptr<Watcher>;

WatcherPtr make_watcher() { return std::make_shared<NoWatcher>(); }

/// A watcher whose request has been answered, so its watch is set.
WatcherPtr arm(WatchTable& table, const std::string& path, WatchKind kind = WatchKind::data) {
  const WatcherPtr watcher = make_watcher();
  const auto key = table.request_sent(path, kind, watcher);
  table.reply_received(key, watcher, true);
  return watcher;
}

TEST_CASE("an event ends the watch on what it is about, for all its watchers") {
  WatchTable table;
  const auto first = arm(table, "/a");
  const auto second = arm(table, "/a");
  const auto of_children = arm(table, "/a", WatchKind::children);
  const auto elsewhere = arm(table, "/b");
  CHECK(table.fire("/a", WatchEventType::data_changed) == std::vector{first, second});
  CHECK(table.fire("/a", WatchEventType::data_changed).empty());
  CHECK(table.fire("/a", WatchEventType::children_changed) == std::vector{of_children});
  CHECK(table.size() == 1);
}

TEST_CASE("a deletion ends the watch on the node and the one on its children") {
  WatchTable table;
  const auto of_node = arm(table, "/a");
  const auto of_children = arm(table, "/a", WatchKind::children);
  CHECK(table.fire("/a", WatchEventType::deleted) == std::vector{of_node, of_children});
  CHECK(table.size() == 0);
}

TEST_CASE("an event for a path that nobody watches is nobody's") {
  WatchTable table;
  const auto watcher = arm(table, "/a");
  CHECK(table.fire("/b", WatchEventType::deleted).empty());
  CHECK(table.size() == 1);
}

TEST_CASE("a watch without a watcher is taken off the server, unless a request arms it again") {
  WatchTable table;
  const auto watcher = arm(table, "/a");
  table.cancel(watcher);
  SECTION("it is given out once") {
    const auto removals = table.take_removals();
    REQUIRE(removals.size() == 1);
    CHECK(removals.front().path == "/a");
    CHECK(table.take_removals().empty());
    table.removed(removals.front().key);
    CHECK(table.size() == 0);
    CHECK(table.armed_bytes() == 0);
  }
  SECTION("again when the removal has failed") {
    const auto removals = table.take_removals();
    table.removal_failed(removals.front().key);
    CHECK(table.take_removals().size() == 1);
  }
  SECTION("not while a request for it is under way") {
    const auto another = make_watcher();
    const auto key = table.request_sent("/a", WatchKind::data, another);
    CHECK(table.take_removals().empty());
    table.reply_received(key, another, true);
    CHECK(table.fire("/a", WatchEventType::deleted) == std::vector{another});
  }
}

TEST_CASE("a request that does not arm leaves nothing") {
  WatchTable table;
  const auto watcher = make_watcher();
  table.reply_received(table.request_sent("/a", WatchKind::data, watcher), watcher, false);
  CHECK(table.size() == 0);
  CHECK(table.armed_bytes() == 0);
}

TEST_CASE(
    "the bytes of what is armed are counted as a request has them: each path and its length") {
  WatchTable table;
  const auto watcher = make_watcher();
  const auto key = table.request_sent("/four", WatchKind::data, watcher);
  CHECK(table.armed_bytes() == 0);
  table.reply_received(key, watcher, true);
  CHECK(table.armed_bytes() == 9);
  const auto again = arm(table, "/four");
  CHECK(table.armed_bytes() == 9);
  const auto of_children = arm(table, "/four", WatchKind::children);
  CHECK(table.armed_bytes() == 18);
  CHECK(table.fire("/four", WatchEventType::data_changed).size() == 2);
  CHECK(table.armed_bytes() == 9);
  CHECK(table.clear().size() == 1);
  CHECK(table.armed_bytes() == 0);
}

TEST_CASE("what is more than a request may have is dropped, and its watchers are told") {
  WatchTable table;
  std::vector<WatcherPtr> watchers;
  for (int i = 0; i < 10; ++i) watchers.push_back(arm(table, "/a/" + std::to_string(i)));
  REQUIRE(table.armed_bytes() == 80);
  SECTION("nothing, if all of it fits") {
    CHECK(table.drop_beyond(80).empty());
    CHECK(table.size() == 10);
  }
  SECTION("no more than necessary") {
    const auto dropped = table.drop_beyond(79);
    REQUIRE(dropped.size() == 1);
    CHECK(dropped.front().path == "/a/0");
    CHECK(dropped.front().watchers == std::vector{watchers.front()});
    CHECK(table.armed_bytes() == 72);
    CHECK(table.fire("/a/0", WatchEventType::deleted).empty());
    CHECK(table.fire("/a/1", WatchEventType::deleted).size() == 1);
  }
  SECTION("everything, if nothing may be restored") {
    CHECK(table.drop_beyond(0).size() == 10);
    CHECK(table.size() == 0);
  }
  SECTION("first what has no watcher any more") {
    table.cancel(watchers[7]);
    const auto dropped = table.drop_beyond(79);
    REQUIRE(dropped.size() == 1);
    CHECK(dropped.front().path == "/a/7");
    CHECK(dropped.front().watchers.empty());
    CHECK(table.take_removals().empty());
  }
  SECTION("not what is asked for, and not armed yet") {
    const auto another = make_watcher();
    const auto key = table.request_sent("/b", WatchKind::data, another);
    CHECK(table.drop_beyond(0).size() == 10);
    table.reply_received(key, another, true);
    CHECK(table.fire("/b", WatchEventType::deleted) == std::vector{another});
  }
  SECTION("a dropped watch can be armed again") {
    CHECK(table.drop_beyond(0).size() == 10);
    const auto again = arm(table, "/a/3");
    CHECK(table.armed_bytes() == 8);
    CHECK(table.fire("/a/3", WatchEventType::deleted) == std::vector{again});
  }
}

TEST_CASE("what arrives behind the end of the session changes nothing") {
  WatchTable table;
  const auto cancelled = arm(table, "/a");
  const auto under_way = make_watcher();
  const auto request = table.request_sent("/b", WatchKind::data, under_way);
  table.cancel(cancelled);
  const auto removals = table.take_removals();
  REQUIRE(removals.size() == 1);
  CHECK(table.clear().empty());
  table.reply_received(request, under_way, true);
  table.removed(removals.front().key);
  table.removal_failed(removals.front().key);
  CHECK(table.size() == 0);
  CHECK(table.armed_bytes() == 0);
  CHECK(table.take_removals().empty());
}

}  // namespace

}  // namespace custodian::tests::watch_table_test
