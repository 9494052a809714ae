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

}  // namespace
}  // namespace custodian::tests::curator_barrier_test
