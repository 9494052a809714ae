#include "acquire/thread_holds.hpp"

#include <optional>

#include "support/catch.hpp"

namespace custodian::tests::thread_holds_test {

using custodian::Error;
using custodian::error_code;
using custodian::Lease;
using custodian::recipes_detail::ThreadHolds;

namespace {

/// Returns the error with which another thread's unlock is refused, if it is.
std::optional<error_code> refusal_of_another_thread(ThreadHolds& holds) {
  std::optional<error_code> refusal;
  std::thread{[&] {
    try {
      static_cast<void>(holds.leave("/lock"));
    } catch (const Error& error) {
      refusal = error.code();
    }
  }}.join();
  return refusal;
}

}  // namespace

TEST_CASE("a thread unlocks only what it has locked itself", "[thread-holds]") {
  ThreadHolds holds;
  holds.enter(Lease{});
  const auto refusal = refusal_of_another_thread(holds);
  REQUIRE(refusal);
  CHECK(*refusal == boost::system::errc::operation_not_permitted);
  CHECK(holds.count() == 1);
  static_cast<void>(holds.leave("/lock"));
  CHECK(holds.count() == 0);
}

TEST_CASE("a thread unlocks as often as it has locked", "[thread-holds]") {
  ThreadHolds holds;
  CHECK_FALSE(holds.enter_again("/lock"));
  holds.enter(Lease{});
  CHECK(holds.enter_again("/lock"));
  CHECK(holds.count() == 2);
  static_cast<void>(holds.leave("/lock"));
  CHECK(holds.count() == 1);
  static_cast<void>(holds.leave("/lock"));
  CHECK(holds.count() == 0);
  CHECK_THROWS_AS(static_cast<void>(holds.leave("/lock")), Error);
}

TEST_CASE("threads hold independently of each other", "[thread-holds]") {
  ThreadHolds holds;
  holds.enter(Lease{});
  std::thread{[&] {
    holds.enter(Lease{});
    static_cast<void>(holds.leave("/lock"));
  }}.join();
  CHECK(holds.count() == 1);
}

}  // namespace custodian::tests::thread_holds_test
