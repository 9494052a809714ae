// Permits and entries of a rate limiter at the borders: times that are equal, and numbers that are
// just too large.

#include <string>
#include <utility>

#include "atomics/permit_stock.hpp"
#include "atomics/rate_ledger.hpp"
#include "support/catch.hpp"

namespace custodian::tests::exact_times_test {
namespace {

using namespace std::chrono_literals;
using recipes_detail::decode_rate_entry;
using recipes_detail::PermitStock;
using Time = PermitStock::Time;

constexpr Time noon{100h};

TEST_CASE("a row that is due exactly with the last permit before it may be as late as that") {
  PermitStock stock{10ms};
  // The write of the first row took a second, so its permit may be due a second too late.
  stock.add(noon, 1, 1s);
  stock.add(noon, 1, 0ms);
  CHECK(stock.take(1).due == noon);
  CHECK(stock.due(1) == noon + 10ms);
  // The last permit is less than a second later than this row: the row is held back.
  stock.add(noon - 500ms, 1, 0ms);
  CHECK(stock.due(2) == noon + 20ms);
}

TEST_CASE("a row is held back if the permit before it is as much later as it may be") {
  // A whole write, and the margin of the servers' clocks.
  for (const auto& [first, due] : {std::pair{noon - 1s - 100ms, noon + 10ms},
                                   std::pair{noon - 1s - 101ms, noon - 1s - 101ms}}) {
    PermitStock stock{10ms};
    stock.add(noon, 1, 1s);
    stock.add(first, 1, 0ms);
    CHECK(stock.take(1).due == noon);
    CHECK(stock.due(1) == due);
  }
}

TEST_CASE("an entry's times are less than 2^62 nanoseconds, and its numbers are apart") {
  const std::string border = std::to_string(std::int64_t{1} << 62);
  const std::string below = std::to_string((std::int64_t{1} << 62) - 1);
  CHECK(decode_rate_entry(below + " -" + below + " 3 4"));
  for (const std::string& bad :
       {border + " 2 3 4", "1 " + border + " 3 4", "1 -" + border + " 3 4", std::string{"1-2 3 4"},
        std::string{"1 2-3 4"}, std::string{"1 2 3-4"}, std::string{"1 2 x 4"}}) {
    INFO(bad);
    CHECK_FALSE(decode_rate_entry(bad));
  }
}

}  // namespace
}  // namespace custodian::tests::exact_times_test
