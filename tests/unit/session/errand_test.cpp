#include "session/errand.hpp"

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <optional>

#include "support/catch.hpp"

namespace custodian::tests::errand_test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using Errand = detail::Errand<int>;

/// A call that ends when the test says so, and that may outlive the test.
struct Slow {
  std::shared_ptr<std::promise<int>> answer = std::make_shared<std::promise<int>>();
  std::shared_ptr<std::promise<void>> over = std::make_shared<std::promise<void>>();

  [[nodiscard]] Errand::Call call() const {
    return [answer = answer, over = over] {
      const int result = answer->get_future().get();
      over->set_value();
      return result;
    };
  }
};

TEST_CASE("the result of an errand comes on the strand", "[errand]") {
  asio::io_context context;
  Errand errand{context.get_executor()};
  const Slow slow;
  std::optional<int> result;
  errand.begin(slow.call(), [&](int value) { result = value; });
  CHECK(errand.busy());
  slow.answer->set_value(7);
  context.run_for(20s);
  CHECK(result == 7);
  CHECK_FALSE(errand.busy());
}

TEST_CASE("a result that is known at once comes later, too", "[errand]") {
  asio::io_context context;
  Errand errand{context.get_executor()};
  std::optional<int> result;
  errand.answer(7, [&](int value) { result = value; });
  CHECK_FALSE(result);
  context.run_for(20s);
  CHECK(result == 7);
}

TEST_CASE("an errand that is cancelled calls nobody", "[errand]") {
  asio::io_context context;
  const Slow slow;
  {
    Errand errand{context.get_executor()};
    errand.begin(slow.call(), [](int) { FAIL("called"); });
    SECTION("before its call has ended") {}
    SECTION("when its result is on the way") {
      errand.answer(1, [](int) { FAIL("called"); });
    }
  }
  // No part of the errand keeps the context at work.
  context.run_for(20s);
  CHECK(context.stopped());
  slow.answer->set_value(7);
  CHECK(slow.over->get_future().wait_for(20s) == std::future_status::ready);
  context.restart();
  context.run_for(20ms);
}

TEST_CASE("a second errand takes the place of the first", "[errand]") {
  asio::io_context context;
  Errand errand{context.get_executor()};
  const Slow first;
  const Slow second;
  std::optional<int> result;
  errand.begin(first.call(), [](int) { FAIL("called"); });
  errand.begin(second.call(), [&](int value) { result = value; });
  first.answer->set_value(1);
  CHECK(first.over->get_future().wait_for(20s) == std::future_status::ready);
  second.answer->set_value(2);
  context.restart();  // the context had no work for a moment
  context.run_for(20s);
  CHECK(result == 2);
}

}  // namespace
}  // namespace custodian::tests::errand_test
