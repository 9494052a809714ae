// Which nodes of a tree are locks, by the names of their children.

#include "inspect/lock_search.hpp"

#include <map>

#include "support/catch.hpp"

namespace custodian::tests::lock_search_test {
namespace {

using namespace recipes_detail;

using Names = std::vector<std::string>;
using Tree = std::map<std::string, Names>;

struct Found {
  Names listed;
  std::set<std::string> locks;
};

Found search(const std::string& root, const Tree& tree) {
  Found found;
  LockSearch search{root};
  while (const auto path = search.next()) {
    found.listed.push_back(*path);
    const auto at = tree.find(*path);
    search.add(*path, at == tree.end() ? Names{} : at->second);
  }
  found.locks = search.locks();
  return found;
}

using Paths = std::set<std::string>;

TEST_CASE("lock search: a node with contenders is a lock, and they are not listed") {
  const Found found =
      search("/", {{"/", {"app"}}, {"/app", {"a", "b"}}, {"/app/a", {"lock-0000000001"}}});
  CHECK(found.locks == Paths{"/app/a"});
  CHECK(found.listed == Names{"/", "/app", "/app/a", "/app/b"});
}

TEST_CASE("lock search: the root itself may be a lock") {
  CHECK(search("/x", {{"/x", {"lock-0000000001"}}}).locks == Paths{"/x"});
}

TEST_CASE("lock search: what lies beside contenders is listed, too") {
  const Found found =
      search("/x", {{"/x", {"lock-0000000001", "more"}}, {"/x/more", {"latch-0000000002"}}});
  CHECK(found.locks == Paths{"/x", "/x/more"});
}

TEST_CASE("lock search: leases and locks below one node are one semaphore") {
  const Tree tree{{"/s", {"locks", "leases"}},
                  {"/s/leases", {"lease-0000000001"}},
                  {"/s/locks", {"lock-0000000002"}}};
  CHECK(search("/s", tree).locks == Paths{"/s"});
}

TEST_CASE(
    "lock search: permits without a line are a semaphore, and a lock called leases is a lock") {
  const Tree fresh{{"/s", {"leases"}}, {"/s/leases", {"lease-0000000001"}}};
  CHECK(search("/s", fresh).locks == Paths{"/s"});
  const Tree mutex{{"/s", {"leases"}}, {"/s/leases", {"lock-0000000001"}}};
  CHECK(search("/s", mutex).locks == Paths{"/s/leases"});
}

TEST_CASE("lock search: the permits are listed before the line") {
  const Found found = search("/s", {{"/s", {"locks", "leases"}}});
  CHECK(found.listed == Names{"/s", "/s/leases", "/s/locks"});
  CHECK(found.locks.empty());
}

TEST_CASE("lock search: a folder of locks is no semaphore, nor is one that has leases beside it") {
  const Tree lone{{"/app", {"locks"}}, {"/app/locks", {"lock-0000000002"}}};
  CHECK(search("/app", lone).locks == Paths{"/app/locks"});
  const Tree folders{{"/app", {"leases", "locks"}},
                     {"/app/leases", {"flat"}},
                     {"/app/locks", {"printer"}},
                     {"/app/locks/printer", {"lock-0000000002"}}};
  CHECK(search("/app", folders).locks == Paths{"/app/locks/printer"});
}

TEST_CASE("lock search: a queue that is stopped by a number that cannot be read is a lock") {
  const Found found = search("/x", {{"/x", {"lock-abc", "lock-0000000001"}}});
  CHECK(found.locks == Paths{"/x"});
  CHECK(found.listed == Names{"/x", "/x/lock-abc"});
}

TEST_CASE("lock search: a folder may be called as contenders are, and is none") {
  for (const std::string name :
       {"lock-7", "lock-orders", "block-store", "latch-", "lock-00000000a1"}) {
    const std::string folder = "/locks/" + name;
    const Tree tree{{"/locks", {name}}, {folder, {"lock-0000000001"}}};
    CHECK(search("/locks", tree).locks == Paths{folder});
  }
  const Tree both{{"/locks", {"lock-7", "lock-0000000001"}},
                  {"/locks/lock-7", {"lock-0000000002"}}};
  CHECK(search("/locks", both).locks == Paths{"/locks", "/locks/lock-7"});
}

TEST_CASE("lock search: a number of a counter that has overflowed is one") {
  CHECK(search("/x", {{"/x", {"lock--2147483648"}}}).locks == Paths{"/x"});
  CHECK(search("/x", {{"/x", {"lock--000000001"}}}).locks == Paths{"/x"});
}

Inspected contender(Claim claim) {
  Inspected made;
  made.claim = claim;
  return made;
}

TEST_CASE("lock search: what contenders want tells the kind of the lock") {
  const auto kind_of = [](Claim claim) {
    return locks_at("/x", {.contenders = {contender(claim)}}).at(0).kind;
  };
  CHECK(kind_of(Claim::mutex) == ListedKind::mutex);
  CHECK(kind_of(Claim::write) == ListedKind::read_write);
  CHECK(kind_of(Claim::read) == ListedKind::read_write);
  CHECK(kind_of(Claim::leadership) == ListedKind::election);
  CHECK(kind_of(Claim::permit) == ListedKind::semaphore);
  CHECK(kind_of(Claim::turn) == ListedKind::semaphore);
}

TEST_CASE("lock search: a path that two recipes use has two locks") {
  const auto locks = locks_at(
      "/x",
      {.contenders = {contender(Claim::mutex), contender(Claim::permit), contender(Claim::mutex)}});
  REQUIRE(locks.size() == 2);
  CHECK(locks[0].contenders.size() == 2);
  CHECK(locks[1].kind == ListedKind::semaphore);
  CHECK(locks_at("/x", {}).empty());
}

TEST_CASE("lock search: a queue of nothing but unreadable numbers is a lock, too") {
  const auto locks = locks_at("/x", {.malformed = {"/x/lock-abc"}});
  REQUIRE(locks.size() == 1);
  CHECK(locks[0].malformed == Names{"/x/lock-abc"});
}

}  // namespace
}  // namespace custodian::tests::lock_search_test
