#include "queue/queue_view.hpp"

#include "queue/contender_choice.hpp"
#include "support/catch.hpp"

namespace custodian::tests::queue_view_test {
namespace {

using namespace cli;
using namespace std::chrono_literals;

const std::chrono::system_clock::time_point since{1'763'784'001s};

Inspected one(std::string node, Claim claim, Standing standing, std::size_t ahead,
              std::string identity = "host/1") {
  return {.participant = {.node = std::move(node),
                          .identity = std::move(identity),
                          .session = 0xabc,
                          .since = since,
                          .token = {0, 17}},
          .claim = claim,
          .standing = standing,
          .ahead = ahead};
}

TEST_CASE("a queue is shown in order, with addresses as far as they are known") {
  QueueView view{.path = "/p", .addresses = Addresses{{0xabc, "10.0.0.1:5"}}};
  view.inspection.contenders = {one("/p/lock-1", Claim::mutex, Standing::holds, 0),
                                one("/p/lock-2", Claim::mutex, Standing::waits, 1)};
  view.inspection.contenders[1].participant.session = 0xdef;
  view.inspection.malformed = {"/p/lock-\x1b"};
  view.inspection.foreign = {"/p/notes"};
  const std::vector<std::string> lines = lines_of(view, since + 65s);
  const std::string rest = "17     2025-11-22 04:00:01Z  lock-";
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] ==
        "#  STATE  KIND   IDENTITY  AGE   SESSION  ADDRESS     TOKEN  QUEUED                NODE");
  CHECK(lines[1] == "1  holds  mutex  host/1    1m5s  0xabc    10.0.0.1:5  " + rest + "1");
  CHECK(lines[2] == "2  waits  mutex  host/1    1m5s  0xdef    unknown     " + rest + "2");
  CHECK(lines[3] == "bears no number, and stops the queue; remove it: /p/lock-\\x1b");
  CHECK(lines[4] == "takes no part: /p/notes");
}

TEST_CASE("addresses that nobody wants to know have no column, and are null for programs") {
  QueueView view{.path = "/p"};
  view.inspection.contenders = {one("/p/lock-1", Claim::mutex, Standing::holds, 0)};
  const std::vector<std::string> lines = lines_of(view, since + 65s);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "#  STATE  KIND   IDENTITY  AGE   SESSION  TOKEN  QUEUED                NODE");
  CHECK(lines[1] ==
        "1  holds  mutex  host/1    1m5s  0xabc    17     2025-11-22 04:00:01Z  lock-1");
  CHECK(to_line(json_of(view)).find(R"("address":null)") != std::string::npos);
}

TEST_CASE("nobody is a line for people, and an empty list for programs") {
  const QueueView view{.path = "/p"};
  CHECK(lines_of(view, since) == std::vector<std::string>{"nobody holds or waits at /p"});
  CHECK(to_line(json_of(view)) ==
        R"({"path":"/p","queue":[],"recipe":null,"malformed":[],"foreign":[]})");
}

TEST_CASE("an identity of any bytes reaches no terminal, and programs whole") {
  QueueView view{.path = "/p"};
  view.inspection.contenders = {one("/p/a", Claim::mutex, Standing::holds, 0, "\x1b[2J\xff"),
                                one("/p/b", Claim::mutex, Standing::waits, 1, "\x1b\xc2\x9b")};
  CHECK(lines_of(view, since)[1].find("\\x1b[2J\\xff") != std::string::npos);
  const std::string line = to_line(json_of(view));
  CHECK(line.find(R"("identity":null,"identity_hex":"1b5b324aff")") != std::string::npos);
  CHECK(line.find(R"("identity":"\u001b\u009b")") != std::string::npos);
}

TEST_CASE("who was asked to let go is shown as such, and a node of nobody's as that") {
  Inspected asked = one("/p/a", Claim::mutex, Standing::holds, 0, "");
  asked.is_asked_to_release = true;
  asked.participant.session = 0;
  CHECK(description_of(asked, since + 1s) ==
        "- (asked to release), mutex, holds, queued 1s ago, session none, token 17");
  asked.participant.identity = "host/1";
  CHECK(description_of(asked, since + 1s).starts_with("host/1 (asked to release), mutex, holds,"));
}

TEST_CASE("places are counted in each queue by itself; readers and writers share one") {
  Inspection seen;
  seen.contenders = {one("/p/r", Claim::read, Standing::holds, 0),
                     one("/p/w", Claim::write, Standing::waits, 1),
                     one("/p/leases/a", Claim::permit, Standing::holds, 0),
                     one("/p/leases/b", Claim::permit, Standing::holds, 0),
                     one("/p/locks/c", Claim::turn, Standing::waits, 0)};
  CHECK(positions_of(seen) == std::vector<std::size_t>{1, 2, 1, 2, 1});
}

TEST_CASE("who can be asked is who holds, or may") {
  Inspection seen;
  seen.contenders = {one("/p/a", Claim::mutex, Standing::unclear, 0),
                     one("/p/b", Claim::mutex, Standing::waits, 1)};
  const auto holders = holders_of(seen);
  REQUIRE(holders.size() == 1);
  CHECK(holders[0].participant.node == "/p/a");
}

TEST_CASE("a contender is found by its path or its name, and nothing else is found") {
  Inspection seen;
  seen.contenders = {one("/p/a", Claim::mutex, Standing::holds, 0),
                     one("/p/leases/b", Claim::permit, Standing::holds, 0)};
  seen.foreign = {"/p/c"};
  CHECK(find_contender(seen, "/p", "a"));
  CHECK(find_contender(seen, "/p", "/p/a"));
  CHECK(find_contender(seen, "/p", "leases/b"));
  for (const char* other : {"c", "/p/c", "/a", "", "/p", "/p/", "leases", "../p/a", "/q/a"}) {
    INFO(other);
    CHECK_FALSE(find_contender(seen, "/p", other));
  }
  seen.contenders[0].participant.node = "/a";
  CHECK(find_contender(seen, "/", "a"));
}

TEST_CASE("the heirs of a holder are those that only it keeps out") {
  Inspection seen;
  seen.contenders = {one("/p/w", Claim::write, Standing::holds, 0),
                     one("/p/r1", Claim::read, Standing::waits, 1),
                     one("/p/r2", Claim::read, Standing::waits, 1),
                     one("/p/w2", Claim::write, Standing::waits, 3)};
  CHECK(heirs_of(seen, seen.contenders[0]).size() == 2);
  CHECK(heirs_of(seen, seen.contenders[3]).empty());
}

}  // namespace
}  // namespace custodian::tests::queue_view_test
