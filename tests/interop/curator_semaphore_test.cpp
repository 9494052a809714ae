// Apache Curator's semaphores and shared counts, and ours, on the same paths.

#include "curator.hpp"
#include "scenarios.hpp"
#include "stage.hpp"

namespace custodian::tests::curator_semaphore_test {
namespace {

TEST_CASE("4 processes of ours and 4 of Curator's count to 2000 under the semaphore mutex") {
  CUSTODIAN_REQUIRES_CURATOR();
  count_together(ours(), curator(), "semaphore-mutex", 2000);
}

TEST_CASE("permits of ours and of Curator's together are never more than the maximum") {
  CUSTODIAN_REQUIRES_CURATOR();
  visit_together(ours(), curator(), 5, 400);
}

TEST_CASE("who asks for permits first is served first, of ours and of Curator's") {
  CUSTODIAN_REQUIRES_CURATOR();
  const Peer us = ours();
  const Peer them = curator();
  serve_in_order(3, {{us, "1-of-3"},
                     {them, "1-of-3"},
                     {us, "2-of-3", 2},
                     {them, "1-of-3"},
                     {us, "3-of-3", 3},
                     {them, "1-of-3"},
                     {us, "1-of-3"}});
}

TEST_CASE("a semaphore mutex is a semaphore of one permit, of ours and of Curator's") {
  CUSTODIAN_REQUIRES_CURATOR();
  const Peer us = ours();
  const Peer them = curator();
  serve_in_order(1, {{us, "semaphore-mutex"},
                     {them, "1-of-1"},
                     {us, "1-of-1"},
                     {them, "semaphore-mutex"},
                     {us, "semaphore-mutex"}});
}

TEST_CASE("Curator's acquire of several permits queues anew for each, and ours go before it") {
  CUSTODIAN_REQUIRES_CURATOR();
  Stage stage{"anew"};
  const std::string path = stage.path("semaphore");
  Driver our_driver{ours()};
  Driver curators_driver{curator()};
  Session first{our_driver, "first"};
  Session second{our_driver, "second"};
  Session later{our_driver, "later"};
  Session curators{curators_driver, "wants-two"};
  first.does("acquire 1-of-2 " + path);
  second.does("acquire 1-of-2 " + path);
  REQUIRE(stage.becomes(path + "/locks", 0));
  curators.begin("acquire 2-of-2 " + path);
  REQUIRE(stage.becomes(path + "/locks", 1));
  later.begin("acquire 1-of-2 " + path);
  REQUIRE(stage.becomes(path + "/locks", 2));

  first.does("release 1-of-2 " + path);
  // Curator's client has one permit now. For the second it queues behind the other waiter.
  REQUIRE(stage.waits(curators, later, path + "/locks"));
  CHECK_FALSE(later.has_ended());
  second.does("release 1-of-2 " + path);
  static_cast<void>(later.end());
  CHECK_FALSE(curators.has_ended());
  later.does("release 1-of-2 " + path);
  static_cast<void>(curators.end());
  CHECK(stage.becomes(path + "/leases", 2));
}

TEST_CASE("permits that a killed process of Curator's held and waited for pass on to ours") {
  CUSTODIAN_REQUIRES_CURATOR();
  kill_holder_of_permits(curator(), ours());
}

TEST_CASE("permits that a killed process of ours held and waited for pass on to Curator's") {
  CUSTODIAN_REQUIRES_CURATOR();
  kill_holder_of_permits(ours(), curator());
}

TEST_CASE("a shared count of ours and Curator's loses no increment, and each is told of changes") {
  CUSTODIAN_REQUIRES_CURATOR();
  count_in_common(ours(), curator());
  count_in_common(curator(), ours());
}

TEST_CASE("atomics of ours and Curator's, of both widths, count what both add at once") {
  CUSTODIAN_REQUIRES_CURATOR();
  for (const char* width : {"long", "integer"}) {
    add_in_common(ours(), curator(), width, 30);
    add_in_common(curator(), ours(), width, 30);
  }
}

}  // namespace
}  // namespace custodian::tests::curator_semaphore_test
