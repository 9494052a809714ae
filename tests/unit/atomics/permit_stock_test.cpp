#include "atomics/permit_stock.hpp"

#include "support/catch.hpp"

namespace custodian::tests::permit_stock_test {
namespace {

using namespace std::chrono_literals;
using recipes_detail::PermitStock;
using Time = PermitStock::Time;

constexpr Time noon{100h};

TEST_CASE("permits of a stock are due one after the other") {
  PermitStock stock{10ms};
  CHECK_FALSE(stock.due(1));
  stock.add(noon, 5);
  CHECK(stock.count() == 5);
  CHECK(stock.due(1) == noon);
  CHECK(stock.due(5) == noon + 40ms);
  CHECK_FALSE(stock.due(6));
  CHECK(stock.take(1).due == noon);
  CHECK(stock.take(2).due == noon + 20ms);
  CHECK(stock.count() == 2);
  CHECK(stock.due(1) == noon + 30ms);
}

TEST_CASE("permits of several rows are due when the last of them is") {
  PermitStock stock{10ms};
  stock.add(noon, 2);
  stock.add(noon + 1s, 2);
  CHECK(stock.due(3) == noon + 1s);
  CHECK(stock.due(4) == noon + 1s + 10ms);
  CHECK(stock.take(3).due == noon + 1s);
  CHECK(stock.take(1).due == noon + 1s + 10ms);
  CHECK(stock.count() == 0);
}

TEST_CASE("a row whose time was taken for too late does not let later permits go before it") {
  PermitStock stock{10ms};
  stock.add(noon + 30ms, 2);
  stock.add(noon + 20ms, 5);
  CHECK(stock.take(2).due == noon + 40ms);
  CHECK(stock.due(1) == noon + 40ms + 1ns);
  CHECK(stock.due(2) == noon + 40ms + 2ns);
  const auto next = stock.take(1);
  CHECK(next.due == noon + 40ms + 1ns);
  stock.give_back(next);
  CHECK(stock.take(2).due == noon + 40ms + 2ns);
  CHECK(stock.take(1).due == noon + 40ms + 3ns);
  // From here on they are due at their own times again.
  CHECK(stock.take(1).due == noon + 50ms);
  stock.add(noon + 70ms, 1);
  CHECK(stock.take(2).due == noon + 70ms);
}

TEST_CASE("permits that are given back are the next ones again") {
  PermitStock stock{10ms};
  stock.add(noon, 2);
  stock.add(noon + 1s, 4);
  const auto taken = stock.take(4);
  const auto later = stock.take(1);
  CHECK(later.due == noon + 1s + 20ms);
  stock.give_back(taken);
  CHECK(stock.count() == 5);
  CHECK(stock.take(1).due == noon);
  CHECK(stock.take(3).due == noon + 1s + 10ms);
  CHECK(stock.take(1).due == noon + 1s + 30ms);
}

}  // namespace
}  // namespace custodian::tests::permit_stock_test
