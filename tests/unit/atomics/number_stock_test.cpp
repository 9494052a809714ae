#include "atomics/number_stock.hpp"

#include <limits>

#include "support/catch.hpp"

namespace custodian::tests::number_stock_test {
namespace {

using recipes_detail::NumberStock;

TEST_CASE("a stock of numbers hands out each of its chunks, one after the other, and no more") {
  NumberStock stock{{.chunk = 3, .prefetch_at = 1}};
  CHECK_FALSE(stock.take());
  stock.add(10);
  CHECK(stock.take() == 10);
  stock.add(20);
  CHECK(stock.take() == 11);
  CHECK(stock.take() == 12);
  CHECK(stock.take() == 20);
  CHECK(stock.take() == 21);
  CHECK(stock.take() == 22);
  CHECK_FALSE(stock.take());
}

TEST_CASE("a stock of numbers is low when so many are left, or fewer") {
  NumberStock stock{{.chunk = 3, .prefetch_at = 1}};
  CHECK(stock.is_low());
  stock.add(0);
  CHECK_FALSE(stock.is_low());
  CHECK(stock.take() == 0);
  CHECK_FALSE(stock.is_low());
  CHECK(stock.take() == 1);
  CHECK(stock.is_low());
  stock.add(3);
  CHECK_FALSE(stock.is_low());
}

TEST_CASE("a stock of numbers wraps around in the midst of a chunk") {
  NumberStock stock{{.chunk = 2, .prefetch_at = 0}};
  stock.add(std::numeric_limits<std::int64_t>::max());
  CHECK(stock.take() == std::numeric_limits<std::int64_t>::max());
  CHECK(stock.take() == std::numeric_limits<std::int64_t>::min());
  CHECK_FALSE(stock.take());
}

}  // namespace
}  // namespace custodian::tests::number_stock_test
