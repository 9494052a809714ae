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
  stock.add(noon, 5, 0ms);
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
  stock.add(noon, 2, 0ms);
  stock.add(noon + 1s, 2, 0ms);
  CHECK(stock.due(3) == noon + 1s);
  CHECK(stock.due(4) == noon + 1s + 10ms);
  CHECK(stock.take(3).due == noon + 1s);
  CHECK(stock.take(1).due == noon + 1s + 10ms);
  CHECK(stock.count() == 0);
}

TEST_CASE("a row whose time was taken for too late holds those behind it back, at the rate") {
  PermitStock stock{10ms};
  stock.add(noon + 1s, 2, 1s);
  stock.add(noon + 20ms, 4, 0ms);
  CHECK(stock.take(2).due == noon + 1s + 10ms);
  CHECK(stock.due(1) == noon + 1s + 20ms);
  CHECK(stock.due(2) == noon + 1s + 30ms);
  const auto next = stock.take(1);
  CHECK(next.due == noon + 1s + 20ms);
  stock.give_back(next);
  CHECK(stock.take(2).due == noon + 1s + 30ms);
  CHECK(stock.take(1).due == noon + 1s + 40ms);
  stock.add(noon + 60ms, 2, 0ms);
  CHECK(stock.take(2).due == noon + 1s + 60ms);
  CHECK(stock.take(1).due == noon + 1s + 70ms);
  // Behind a pause they are due at their own times again.
  stock.add(noon + 2s, 2, 0ms);
  CHECK(stock.take(1).due == noon + 2s);
  CHECK(stock.take(1).due == noon + 2s + 10ms);
}

TEST_CASE("permits of a node that was created anew are not held back by those of the old one") {
  PermitStock stock{10ms};
  stock.add(noon + 1s, 1, 1s);
  stock.add(noon + 10h, 1, 5ms);
  CHECK(stock.take(2).due == noon + 10h);
  stock.add(noon, 1, 5ms);
  CHECK(stock.take(1).due == noon);
}

TEST_CASE("permits that are given back are the next ones again") {
  PermitStock stock{10ms};
  stock.add(noon, 2, 0ms);
  stock.add(noon + 1s, 4, 0ms);
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
