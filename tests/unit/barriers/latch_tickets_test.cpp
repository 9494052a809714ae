#include "barriers/latch_tickets.hpp"

#include <limits>

#include "support/catch.hpp"

namespace custodian::tests::latch_tickets_test {
namespace {

using namespace recipes_detail;

TEST_CASE("a ticket has ten digits, and is read as it is written") {
  CHECK(ticket_name(0) == "0000000000");
  CHECK(ticket_name(42) == "0000000042");
  CHECK(ticket_name(std::numeric_limits<std::int32_t>::max()) == "2147483647");
  for (const std::int32_t number : {0, 1, 999'999, std::numeric_limits<std::int32_t>::max()}) {
    CHECK(ticket_number(ticket_name(number)) == number);
  }
}

TEST_CASE("a name of another length, or with anything but digits, is no ticket") {
  for (const char* other : {"", "1", "000000000", "00000000000", "00000000-1", "+000000001",
                            "000000000a", "ticket0000", "9999999999", " 000000001"}) {
    INFO(other);
    CHECK(ticket_number(other) == std::nullopt);
  }
}

TEST_CASE("the greatest number says how many have arrived, and other nodes say nothing") {
  CHECK(arrivals_of({}) == 0);
  CHECK(arrivals_of({"2147483647"}) == std::numeric_limits<std::int32_t>::max());
  CHECK(arrivals_of({"0000000002", "0000000000", "0000000001"}) == 3);
  CHECK(arrivals_of({"foreign", "0000000000", "10"}) == 1);
  CHECK(arrivals_of({"0000000007"}) == 8);
}

TEST_CASE("the data of a latch are its number, and nothing else") {
  CHECK(latch_data(12) == "12");
  CHECK(expected_of("12") == 12);
  CHECK(expected_of("0") == 0);
  for (const char* other : {"", "-1", "12 ", " 12", "twelve", "99999999999", "1.5"}) {
    INFO(other);
    CHECK(expected_of(other) == std::nullopt);
  }
}

TEST_CASE("tickets follow those before, and there are no more than arrivals are missing") {
  CHECK(next_tickets(5, 0, 1) == Tickets{0, 1});
  CHECK(next_tickets(5, 3, 2) == Tickets{3, 2});
  CHECK(next_tickets(5, 3, 9) == Tickets{3, 2});
  CHECK(next_tickets(5, 3, 0).count == 0);
  CHECK(next_tickets(5, 5, 1).count == 0);
  CHECK(next_tickets(5, 7, 1).count == 0);
  CHECK(next_tickets(0, 0, 1).count == 0);
}

TEST_CASE("tickets are created behind a check of the one before, all in the arriver's name") {
  const Transaction first = create_tickets("/latch", {0, 2}, "me");
  REQUIRE(first.size() == 2);
  CHECK(std::get<transaction::Create>(first[0]).path == "/latch/0000000000");
  CHECK(std::get<transaction::Create>(first[1]).path == "/latch/0000000001");
  const Transaction later = create_tickets("/latch", {7, 1}, "me");
  REQUIRE(later.size() == 2);
  CHECK(std::get<transaction::Check>(later[0]).path == "/latch/0000000006");
  const auto& ticket = std::get<transaction::Create>(later[1]);
  CHECK(ticket.path == "/latch/0000000007");
  CHECK(ticket.data == "me");
  CHECK(ticket.mode == CreateMode::persistent);
}

TEST_CASE("after a lost reply the first ticket says whether the arrival was counted") {
  CHECK(tickets_of(std::nullopt, "me") == TicketsOf::nobody);
  CHECK(tickets_of("me", "me") == TicketsOf::arriver);
  CHECK(tickets_of("somebody", "me") == TicketsOf::others);
  CHECK(tickets_of("", "me") == TicketsOf::others);
}

}  // namespace
}  // namespace custodian::tests::latch_tickets_test
