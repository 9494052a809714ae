// Members of double barriers in several processes, which are killed again and again.
// CUSTODIAN_TEST_PARTIES sets the number of parties; by default a few.

#include <algorithm>
#include <cstdlib>
#include <string>

#include "curator.hpp"
#include "scenarios.hpp"
#include "support/catch.hpp"
#include "support/test_servers.hpp"

namespace custodian::tests::parties_test {
namespace {

constexpr int needed = 5;

std::size_t parties() {
  const char* number = std::getenv("CUSTODIAN_TEST_PARTIES");
  return number == nullptr ? 60 : std::stoul(number);
}
std::size_t kill_every() { return std::max<std::size_t>(20, parties() / 200); }

void describe(const char* whose, const PartyReport::Count& count) {
  if (count.visits == 0) return;
  WARN(whose << ": " << count.visits << " visits, " << count.early << " early, " << count.left_alone
             << " left alone");
}
void describe(const PartyReport& report) {
  describe("ours", report.ours);
  describe("Curator's", report.others);
  if (!report.stuck.empty()) WARN(report.stuck);
}

TEST_CASE(
    "parties of five among four processes that are killed: nobody is in alone, or out alone") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const PartyReport report =
      attend_parties({ours(), ours(), ours(), ours()}, needed, parties(), kill_every());
  CHECK(report.stuck.empty());
  CHECK(report.ours.visits >= parties() * needed);
  CHECK(report.ours.early == 0);
  CHECK(report.ours.left_alone == 0);
  describe(report);
}

// Run by hand: shows how Curator's members behave at a party, alone and beside ours. They are in
// after any event, and do not leave together; now and then they wait for ever.
TEST_CASE("parties of five of Curator's members, and mixed ones: how often are they early", "[.]") {
  CUSTODIAN_REQUIRES_CURATOR();
  constexpr std::size_t never = 1'000'000;
  const PartyReport theirs =
      attend_parties({curator(), curator(), curator(), curator()}, needed, parties(), never);
  describe(theirs);
  const PartyReport mixed =
      attend_parties({curator(), curator(), ours(), ours()}, needed, parties(), never);
  describe(mixed);
}

}  // namespace
}  // namespace custodian::tests::parties_test
