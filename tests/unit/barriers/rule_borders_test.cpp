// The rules of barriers for nodes that one transaction has written, and for foreign data.

#include <string>
#include <variant>

#include "barriers/party_rules.hpp"
#include "barriers/phase_rules.hpp"
#include "support/catch.hpp"

namespace custodian::tests::rule_borders_test {
namespace {

using namespace recipes_detail;

TEST_CASE("a ready node of the member's own transaction counts it, perhaps") {
  const GetResult ready{.data = "10.0.0.1", .stat = {.czxid = 9}};
  CHECK(counted_by(ready, "a", 9) == Counted::perhaps);
  CHECK(counted_by(ready, "a", 10) == Counted::no);
}

TEST_CASE("a member that was never listed is counted, perhaps, by a write of its transaction") {
  const GetResult barrier{.data = "10.0.0.1", .stat = {.czxid = 3, .mzxid = 10}};
  CHECK(counted_since({}, barrier, "a", 10) == Counted::perhaps);
  CHECK(counted_since({}, barrier, "a", 11) == Counted::no);
}

TEST_CASE("an arrival of the transaction that ended its phase is not certainly gone") {
  const GetResult barrier{.data = "_c_a-phase-6\n", .stat = {.mzxid = 20, .version = 7}};
  CHECK(is_certainly_gone(barrier, 6, 19));
  CHECK_FALSE(is_certainly_gone(barrier, 6, 20));
}

TEST_CASE("large data that end with no line stay as they are when a phase ends") {
  // So many that the lines of earlier phases would go.
  std::string before;
  for (int i = 0; i < 2'000; ++i) before += "note-" + std::to_string(i) + '\n';
  before += "of a person";
  const Transaction ending = ending_phase("/p", {"_c_a-phase-7"}, 7, before);
  CHECK(std::get<transaction::Set>(ending.back()).data == before + "_c_a-phase-7\n");
}

}  // namespace
}  // namespace custodian::tests::rule_borders_test
