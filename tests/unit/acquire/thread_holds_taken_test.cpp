// A thread gives its hold away for a while.

#include "acquire/thread_holds.hpp"
#include "support/catch.hpp"

namespace custodian::tests::thread_holds_taken_test {
namespace {

using recipes_detail::ThreadHolds;

TEST_CASE("a thread that holds nothing gives nothing away", "[thread-holds]") {
  ThreadHolds holds;
  const auto [lease, count] = holds.take();
  CHECK_FALSE(lease);
  CHECK(count == 0);
  CHECK(holds.count() == 0);
  holds.enter(Lease{});
  CHECK(holds.take().second == 1);
  CHECK(holds.take().second == 0);
}

}  // namespace
}  // namespace custodian::tests::thread_holds_taken_test
