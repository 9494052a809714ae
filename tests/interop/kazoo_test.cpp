// kazoo's locks and ours on the same paths. Ours have kazoo's profile, unless kazoo is configured
// for our names.

#include "scenarios.hpp"
#include "stage.hpp"

#define CUSTODIAN_REQUIRES_KAZOO() \
  CUSTODIAN_REQUIRES_OWN_SERVER(); \
  if (!has_kazoo()) CUSTODIAN_SKIP("needs kazoo: tools/setup installs it, then configure again")

namespace custodian::tests::kazoo_test {
namespace {

TEST_CASE("4 processes of ours and 4 of kazoo's count to 2000 under the mutex") {
  CUSTODIAN_REQUIRES_KAZOO();
  count_together(ours(Names::kazoos), kazoo(), "mutex", 2000);
}

TEST_CASE("4 processes of ours and 4 of kazoo's count to 2000 under the write lock") {
  CUSTODIAN_REQUIRES_KAZOO();
  count_together(ours(Names::kazoos), kazoo(), "write", 2000);
}

TEST_CASE("4 processes of ours, with their own names, and 4 of kazoo's, told of them, count") {
  CUSTODIAN_REQUIRES_KAZOO();
  count_together(ours(), kazoo(Names::curators), "mutex", 200);
  count_together(ours(), kazoo(Names::curators), "write", 200);
}

TEST_CASE("ours and kazoo's stand in one queue, and are served in its order") {
  CUSTODIAN_REQUIRES_KAZOO();
  stand_in_one_queue(ours(Names::kazoos), kazoo());
}

TEST_CASE("readers of ours and of kazoo's read at once, and our writer keeps kazoo's out") {
  CUSTODIAN_REQUIRES_KAZOO();
  read_together(ours(Names::kazoos), kazoo());
}

TEST_CASE("readers of kazoo's and of ours read at once, and kazoo's writer keeps ours out") {
  CUSTODIAN_REQUIRES_KAZOO();
  read_together(kazoo(), ours(Names::kazoos));
}

TEST_CASE("our writer downgrades: kazoo's reader comes in, its writer waits") {
  CUSTODIAN_REQUIRES_KAZOO();
  // The writer must not come while kazoo's reader waits: a reader of kazoo 2.8 also waits for
  // writers behind it, which wait for the reader (kazoo issue 649).
  downgrade(ours(Names::kazoos), kazoo(), NextWriter::comes_later);
}

TEST_CASE("what a killed process of kazoo's held and waited for passes on to ours") {
  CUSTODIAN_REQUIRES_KAZOO();
  kill_holder(kazoo(), ours(Names::kazoos));
}

TEST_CASE("what a killed process of ours held and waited for passes on to kazoo's") {
  CUSTODIAN_REQUIRES_KAZOO();
  kill_holder(ours(Names::kazoos), kazoo());
}

TEST_CASE("a barrier of ours or of kazoo's keeps both waiting, and either removes it") {
  CUSTODIAN_REQUIRES_KAZOO();
  wait_at_one_barrier(ours(), kazoo());
}

TEST_CASE("two of ours and two of kazoo's meet, party after party") {
  CUSTODIAN_REQUIRES_KAZOO();
  meet(ours(), kazoo(), 10);
}

}  // namespace
}  // namespace custodian::tests::kazoo_test
