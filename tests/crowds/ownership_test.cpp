#include "crowds/ownership.hpp"

#include "support/catch.hpp"

namespace custodian::tests::crowds::ownership_test {
namespace {

TEST_CASE("ownership: owners one behind the other are no violation, also if one has died") {
  Ownership judge;
  judge.begin("a", "s", 1, 10);
  judge.wrote("a", "s", 1, 100);
  judge.end("a", "s", 1, 20);
  // The lines of the next owner may be read earlier.
  judge.wrote("b", "s", 2, 101);
  judge.begin("b", "s", 2, 20);
  CHECK(judge.owners().at("s") == "b");
  judge.died("b", 25);
  CHECK(judge.owners().empty());
  judge.begin("a", "s", 3, 30);
  judge.wrote("a", "s", 3, 102);
  CHECK(judge.violation() == "");
  CHECK(judge.writes() == 3);
}

TEST_CASE("ownership: two owners at a time are a violation") {
  Ownership judge;
  judge.begin("a", "s", 1, 10);
  judge.begin("b", "s", 2, 15);
  CHECK(judge.violation() == "two owners: a and b of s");
  judge.end("a", "s", 1, 16);
  CHECK(judge.violation() == "two owners: a and b of s");
}

TEST_CASE("ownership: a token that does not grow is a violation") {
  Ownership judge;
  judge.begin("a", "s", 2, 10);
  judge.end("a", "s", 2, 11);
  judge.begin("b", "s", 2, 12);
  CHECK(judge.violation() == "tokens do not grow: a and b of s");
}

TEST_CASE("ownership: a write of an earlier owner behind one of a later is a violation") {
  Ownership late;
  late.wrote("b", "s", 2, 101);
  late.wrote("a", "s", 1, 102);
  CHECK(late.violation() == "a late write: b and a of s");
  Ownership shared;
  shared.wrote("a", "s", 1, 101);
  shared.wrote("b", "s", 1, 102);
  CHECK(shared.violation() == "one token: a and b of s");
}

}  // namespace
}  // namespace custodian::tests::crowds::ownership_test
