// Barriers at which Apache Curator's clients and ours wait together.

#include "curator.hpp"
#include "scenarios.hpp"
#include "support/catch.hpp"

namespace custodian::tests::curator_barrier_test {
namespace {

TEST_CASE("a barrier of ours or of Curator's keeps both waiting, and either removes it") {
  CUSTODIAN_REQUIRES_CURATOR();
  wait_at_one_barrier(ours(), curator());
}

TEST_CASE("two of ours and two of Curator's meet, party after party") {
  CUSTODIAN_REQUIRES_CURATOR();
  meet(ours(), curator(), 10);
}

TEST_CASE("Curator's own members do not always wait for each other") {
  // This is no promise of ours: it shows that the early entries are those of Curator's members.
  CUSTODIAN_REQUIRES_CURATOR();
  meet(curator(), curator(), 10);
}

}  // namespace
}  // namespace custodian::tests::curator_barrier_test
