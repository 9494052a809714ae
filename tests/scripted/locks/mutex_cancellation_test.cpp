// The mutex, cancelled at every moment, with and without a fault.

#include "scripted/lock_tally.hpp"

namespace custodian::tests::mutex_cancellation_test {

namespace asio = boost::asio;

namespace {

TEST_CASE("mutex: a cancelled acquire leaves a lease or nothing, at every moment", "[cancelled]") {
  play_cancellations(uncontended);
  play_cancellations(contended);
  play_cancellations({.name = "try_acquire of a held lock",
                      .face = Face::try_acquire,
                      .held = true,
                      .expected = {error_code{}}});
}

TEST_CASE("mutex: who cancels a try is told so, and not that the lock is held", "[cancelled]") {
  const Scenario held{
      .name = "try_acquire of a held lock", .face = Face::try_acquire, .held = true};
  // The first two replies do not yet say who holds the lock.
  for (const std::size_t at : {0U, 1U}) {
    const Verdict verdict = play(held, {}, Cancel{CancelMoment::before_reply, at});
    CHECK(verdict.violation.empty());
    CHECK(verdict.error == asio::error::operation_aborted);
  }
}

}  // namespace
}  // namespace custodian::tests::mutex_cancellation_test
