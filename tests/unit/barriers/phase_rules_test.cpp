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
  // Late arrivals of other phases, and names that are no arrivals.
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

TEST_CASE("an arrival waits in its phase, and at no other barrier's node") {
  CHECK(fate_of(barrier_of({}, 0), "_c_a-phase-0", 0) == Arrival::waits);
  CHECK(fate_of(barrier_of("_c_x-phase-6\n", 7), "_c_a-phase-7", 7) == Arrival::waits);
  CHECK(fate_of(barrier_of("_c_x-phase-17\n", 18), "_c_a-phase-7", 7) == Arrival::unknown);
  // A node that was created since begins with phase 0.
  CHECK(fate_of(barrier_of({}, 0), "_c_a-phase-7", 7) == Arrival::left_over);
  CHECK(fate_of(barrier_of("_c_x-phase-5\n", 6), "_c_a-phase-7", 7) == Arrival::left_over);
}

TEST_CASE(
    "an arrival's node is certainly gone if the last write removed it, and it was there before") {
  GetResult barrier = barrier_of("_c_a-phase-7\n", 8);
  barrier.stat.mzxid = 20;
  CHECK(is_certainly_gone(barrier, 7, 19));
  // A repeated create has made the node after the end of its phase.
  CHECK_FALSE(is_certainly_gone(barrier, 7, 21));
  // Or between the ends of two phases.
  CHECK_FALSE(is_certainly_gone(barrier, 6, 19));
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

/// The arrivals of a phase, each with an id of its own.
Names arrivals_of(std::int32_t phase, int count) {
  Names names;
  for (int i = 0; i < count; ++i) {
    std::string id = std::to_string(1'000'000 * (phase + 1) + i);
    id.resize(36, '-');
    names.push_back("_c_" + id + "-" + arrival_name(phase));
  }
  return names;
}

/// The barrier's data after `phases` phases of `count` arrivals each.
std::string data_after(std::int32_t phases, int count) {
  std::string data;
  for (std::int32_t phase = 0; phase < phases; ++phase) {
    const Transaction ending = ending_phase("/p", arrivals_of(phase, count), phase, data);
    data = std::get<transaction::Set>(ending.back()).data;
  }
  return data;
}

TEST_CASE("a phase is known as a whole, or not at all, however many its arrivals are") {
  for (const int count : {1, 2, 7, 100, 330, 1'000}) {
    INFO(count << " arrivals");
    constexpr std::int32_t phases = 400;
    const GetResult barrier = barrier_of(data_after(phases, count), phases);
    std::int32_t known = 0;
    for (std::int32_t phase = 0; phase < phases; ++phase) {
      const bool is_known =
          fate_of(barrier, "_c_b-" + arrival_name(phase), phase) == Arrival::left_over;
      const Names names = arrivals_of(phase, count);
      for (const std::string* name : {&names.front(), &names[names.size() / 2], &names.back()}) {
        const Arrival expected = is_known ? Arrival::passed : Arrival::unknown;
        if (fate_of(barrier, *name, phase) != expected) FAIL_CHECK(*name);
      }
      if (is_known) ++known;
    }
    CHECK(fate_of(barrier, "_c_b-phase-398", 398) == Arrival::left_over);
    CHECK(known >= 2);
    CHECK(known < phases);
    CHECK(known * count >= 300);
  }
}

std::size_t bytes_of(const Transaction& transaction) {
  std::size_t bytes = std::get<transaction::Set>(transaction.back()).data.size();
  for (std::size_t i = 0; i + 1 < transaction.size(); ++i) {
    bytes += std::get<transaction::Remove>(transaction[i]).path.size();
  }
  return bytes;
}

TEST_CASE("no phase ends by a larger transaction than the one that is checked at first") {
  for (const int arrivals : {1, 100, 1'000}) {
    const std::string before = data_after(400, arrivals);
    const Names last(static_cast<std::size_t>(arrivals),
                     "_c_" + std::string(36, 'a') + "-" + arrival_name(2'147'483'646));
    CHECK(bytes_of(ending_phase("/p", last, 2'147'483'646, before)) <=
          bytes_of(longest_ending("/p", arrivals)));
  }
}

}  // namespace
}  // namespace custodian::tests::phase_rules_test
