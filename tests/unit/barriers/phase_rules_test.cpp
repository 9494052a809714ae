#include "barriers/phase_rules.hpp"

#include <variant>

#include "support/catch.hpp"

namespace custodian::tests::phase_rules_test {
namespace {

using namespace recipes_detail;
using Names = std::vector<std::string>;

GetResult barrier_of(std::string data, std::int32_t version) {
  return {.data = std::move(data), .stat = {.version = version}};
}

TEST_CASE("a phase ends with exactly so many arrivals as are expected, of this phase") {
  CHECK(arrivals_of_phase({"_c_b-phase-7", "_c_a-phase-7"}, 3, 7).empty());
  CHECK(arrivals_of_phase({"_c_b-phase-7", "_c_a-phase-7"}, 2, 7) ==
        Names{"_c_a-phase-7", "_c_b-phase-7"});
  CHECK(arrivals_of_phase({"_c_c-phase-7", "_c_b-phase-7", "_c_a-phase-7"}, 2, 7) ==
        Names{"_c_a-phase-7", "_c_b-phase-7"});
  // Late ones of other phases, and what is none.
  CHECK(arrivals_of_phase({"_c_a-phase-7", "_c_b-phase-6", "_c_b-phase-17"}, 2, 7).empty());
  CHECK(arrivals_of_phase({"_c_a-phase-7", "phase-7", "_c_b-lock", "ready"}, 2, 7).empty());
}

TEST_CASE("a phase ends by a transaction that removes each arrival, and names it") {
  const std::string before = "_c_x-phase-6\n";
  const Transaction transaction = ending_phase("/p", {"_c_a-phase-7", "_c_b-phase-7"}, 7, before);
  REQUIRE(transaction.size() == 3);
  CHECK(std::get<transaction::Remove>(transaction[0]).path == "/p/_c_a-phase-7");
  CHECK(std::get<transaction::Remove>(transaction[1]).path == "/p/_c_b-phase-7");
  const auto& written = std::get<transaction::Set>(transaction[2]);
  CHECK(written.path == "/p");
  CHECK(written.version == 7);
  CHECK(written.data == before + "_c_a-phase-7\n_c_b-phase-7\n");
  CHECK(fate_of(barrier_of(written.data, 8), "_c_b-phase-7", 7) == Arrival::passed);
  CHECK(fate_of(barrier_of(written.data, 8), "_c_c-phase-7", 7) == Arrival::left_over);
  CHECK(fate_of(barrier_of(written.data, 8), "_c_x-phase-6", 6) == Arrival::passed);
  CHECK(fate_of(barrier_of(written.data, 8), "_c_y-phase-5", 5) == Arrival::unknown);
}

TEST_CASE("an arrival waits in its phase, also where a server lags behind") {
  CHECK(fate_of(barrier_of({}, 0), "_c_a-phase-0", 0) == Arrival::waits);
  CHECK(fate_of(barrier_of("_c_x-phase-6\n", 7), "_c_a-phase-7", 7) == Arrival::waits);
  CHECK(fate_of(barrier_of("_c_x-phase-5\n", 6), "_c_a-phase-7", 7) == Arrival::waits);
  CHECK(fate_of(barrier_of("_c_x-phase-17\n", 18), "_c_a-phase-7", 7) == Arrival::unknown);
}

TEST_CASE("the names of the last phases are kept, and not those of all") {
  std::string data;
  constexpr std::int32_t phases = 2'000;
  for (std::int32_t phase = 0; phase < phases; ++phase) {
    const std::vector<std::string> arrivals{"_c_a-" + arrival_name(phase)};
    const Transaction transaction = ending_phase("/p", arrivals, phase, data);
    data = std::get<transaction::Set>(transaction.back()).data;
  }
  CHECK(data.size() < 17'000);
  CHECK(data.starts_with("_c_a-"));
  const GetResult barrier = barrier_of(data, phases);
  for (const std::int32_t kept : {phases - 1, phases - 500}) {
    CHECK(fate_of(barrier, "_c_a-" + arrival_name(kept), kept) == Arrival::passed);
    CHECK(fate_of(barrier, "_c_b-" + arrival_name(kept), kept) == Arrival::left_over);
  }
  CHECK(fate_of(barrier, "_c_a-" + arrival_name(5), 5) == Arrival::unknown);
}

}  // namespace
}  // namespace custodian::tests::phase_rules_test
