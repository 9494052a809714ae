#include "queue/lock_list_view.hpp"

#include <fstream>
#include <sstream>

#include "support/catch.hpp"

namespace custodian::tests::lock_list_view_test {
namespace {

using namespace cli;
using namespace std::chrono_literals;

const std::chrono::system_clock::time_point since{1'763'784'001s};

Inspected one(std::string node, Standing standing, std::int64_t session,
              std::string identity = "host/1", std::chrono::seconds later = 0s) {
  return {.participant = {.node = std::move(node),
                          .identity = std::move(identity),
                          .session = session,
                          .since = since + later,
                          .token = {0, 17}},
          .standing = standing};
}

LockListing example() {
  LockListing listing;
  listing.locks.push_back({.path = "/a",
                           .contenders = {one("/a/lock-1", Standing::holds, 0xabc),
                                          one("/a/lock-2", Standing::waits, 0xdef, "b", 5s),
                                          one("/a/lock-3", Standing::waits, 0xdee, "c", 7s)}});
  listing.locks.push_back({.path = "/pool",
                           .kind = ListedKind::semaphore,
                           .contenders = {one("/pool/leases/l-1", Standing::holds, 0xabc, "x", 3s),
                                          one("/pool/leases/l-2", Standing::holds, 0xabd, "y")}});
  return listing;
}

using Lines = std::vector<std::string>;

TEST_CASE("locks are a table: who holds, how many wait, and for how long") {
  CHECK(lines_of(example(), "/", since + 65s) ==
        Lines{"KIND       PATH   HOLDER        AGE   SESSION  WAITING  OLDEST",
              "mutex      /a     host/1        1m5s  0xabc    2        1m",
              "semaphore  /pool  x and 1 more  1m5s  -        0        -"});
}

TEST_CASE("where there is no lock, a line says so") {
  CHECK(lines_of(LockListing{}, "/p", since) == Lines{"nobody holds or waits at /p, nor below it"});
}

TEST_CASE("a list names what was not read, and what stops a queue; what nodes contain is escaped") {
  LockListing listing;
  listing.locks.push_back({.path = "/\x1b[2J",
                           .contenders = {one("/x", Standing::holds, 1, "\x07")},
                           .malformed = {"/l/lock-\x1b"}});
  listing.locks[0].contenders[0].is_asked_to_release = true;
  listing.forbidden = {"/secret"};
  listing.is_complete = false;
  listing.nodes = 7;
  const Lines lines = lines_of(listing, "/", since);
  REQUIRE(lines.size() == 5);
  CHECK(lines[1] == "mutex  /\\x1b[2J  \\x07 (asked to release)  0s   0x1      0        -");
  CHECK(lines[2] == "bears no number, and stops the queue; remove it: /l/lock-\\x1b");
  CHECK(lines[3] == "may not be read: /secret");
  CHECK(lines[4] ==
        "only the first 7 nodes were looked at: there may be more locks; see --max-nodes");
}

TEST_CASE("a lock whose first contender is unclear has no holder") {
  LockListing listing;
  listing.locks.push_back({.path = "/a", .contenders = {one("/a/lock-1", Standing::unclear, 1)}});
  CHECK(lines_of(listing, "/", since)[1] == "mutex  /a    unclear  -    -        0        -");
}

std::vector<std::string> paths_of(const LockFilter& filter, std::chrono::seconds after = 6s) {
  LockListing listing = example();
  apply(filter, listing, since + after);
  std::vector<std::string> paths;
  for (const ListedLock& each : listing.locks) paths.push_back(each.path);
  return paths;
}

TEST_CASE("a list may be cut down to those of a session or of a name, and to those held for long") {
  CHECK(paths_of({}) == Lines{"/a", "/pool"});
  CHECK(paths_of({.of = "0xabc"}) == Lines{"/a", "/pool"});
  CHECK(paths_of({.of = "0xabd"}) == Lines{"/pool"});
  CHECK(paths_of({.of = "ost/1"}) == Lines{"/a"});
  CHECK(paths_of({.of = "0xab"}).empty());
  CHECK(paths_of({.longer_than = 5s}) == Lines{"/a", "/pool"});
  CHECK(paths_of({.longer_than = 6s}).empty());
  CHECK(paths_of({.longer_than = 2s, .of = "0xdef"}).empty());
  CHECK(paths_of({.longer_than = 0s, .of = "0xdef"}) == Lines{"/a"});
}

TEST_CASE("a lock is a line of JSON for programs") {
  const LockListing listing = example();
  CHECK(
      to_line(json_of(listing.locks[1])) ==
      R"({"path":"/pool","kind":"semaphore","holders":[)"
      R"({"identity":"x","session":"0xabc","since":"2025-11-22T04:00:04.000Z","token":"17","node":"/pool/leases/l-1"},)"
      R"({"identity":"y","session":"0xabd","since":"2025-11-22T04:00:01.000Z","token":"17","node":"/pool/leases/l-2"}],)"
      R"("waiting":0,"oldest_wait":null,"asked_to_release":false,"malformed":[]})");
  const Json mutex = json_of(listing.locks[0]);
  CHECK(mutex["waiting"] == 2);
  CHECK(mutex["oldest_wait"] == "2025-11-22T04:00:06.000Z");
}

/// 1 holds /y and waits for /x; 2 holds /x and waits for /y.
WaitCycle circle() {
  return {
      .waits = {{"/x", one("/x/1", {}, 1, "a", 2s).participant, one("/x/2", {}, 2).participant},
                {"/y", one("/y/2", {}, 2, "b", 3s).participant, one("/y/1", {}, 1).participant}},
      .sessions = 2};
}

TEST_CASE("a circle of waits is drawn: who holds what, and waits for what") {
  CHECK(lines_of(circle(), since + 65s) ==
        Lines{"2 sessions wait for each other:",
              "    IDENTITY  SESSION  HOLDS  SINCE  WAITS FOR  SINCE",
              "->  a         0x1      /y     1m5s   /x         1m3s",
              "<-  b         0x2      /x     1m5s   /y         1m2s"});
  WaitCycle larger = circle();
  larger.sessions = 5;
  CHECK(lines_of(larger, since)[0] == "5 sessions wait for each other, among them:");
}

TEST_CASE("a circle of waits is a line of JSON for programs") {
  CHECK(to_line(json_of(circle())) ==
        R"({"sessions":2,"waits":[{"identity":"a","session":"0x1","holds":"/y",)"
        R"("holds_since":"2025-11-22T04:00:01.000Z","waits_for":"/x",)"
        R"("waits_since":"2025-11-22T04:00:03.000Z"},{"identity":"b","session":"0x2","holds":"/x",)"
        R"("holds_since":"2025-11-22T04:00:01.000Z","waits_for":"/y",)"
        R"("waits_since":"2025-11-22T04:00:04.000Z"}]})");
}

TEST_CASE("the lists in the documentation are what the command shows") {
  std::stringstream page;
  page << std::ifstream{CUSTODIAN_DOCS "/operating.md"}.rdbuf();
  const auto check = [&](const Lines& lines) {
    std::string block;
    for (const std::string& line : lines) block += (line.empty() ? "" : "    " + line) + '\n';
    INFO(block);
    CHECK(page.str().find(block) != std::string::npos);
  };
  const auto accounts = one("/locks/accounts/1", Standing::holds, 0x10001d72b95000b, "web1/4711");
  const auto orders = one("/locks/orders/1", Standing::holds, 0x10001d72b95000c, "web2/812", 4s);
  const auto wants_orders =
      one("/locks/orders/2", Standing::waits, 0x10001d72b95000b, "web1/4711", 5s);
  const auto wants_accounts =
      one("/locks/accounts/2", Standing::waits, 0x10001d72b95000c, "web2/812", 7s);
  const auto permit = one("/pool/licences/1", Standing::holds, 7, "web1/4711", -2h);
  LockListing listing;
  listing.locks = {{.path = "/locks/accounts", .contenders = {accounts, wants_accounts}},
                   {.path = "/locks/orders", .contenders = {orders, wants_orders}},
                   {.path = "/pool/licences",
                    .kind = ListedKind::semaphore,
                    .contenders = {permit, one("/pool/licences/2", Standing::holds, 8),
                                   one("/pool/licences/3", Standing::holds, 9)}}};
  check(lines_of(listing, "/", since + 185s));
  const std::vector<WaitCycle> cycles = find_wait_cycles(listing.locks);
  REQUIRE(cycles.size() == 1);
  Lines lines = lines_of(cycles[0], since + 185s);
  lines.emplace_back();
  for (const std::string& line : advice_on_cycles()) lines.push_back(line);
  check(lines);
}

}  // namespace
}  // namespace custodian::tests::lock_list_view_test
