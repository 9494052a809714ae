#include "acquire/acquire_outcome.hpp"

#include "support/catch.hpp"

namespace custodian::tests::acquire_outcome_test {
namespace {

using recipes_detail::acquire_outcome;
using enum AcquireOutcome;

TEST_CASE("an acquire with a lease or more is acquired, also if it was only to be tried") {
  CHECK(acquire_outcome({}, 1, false) == acquired);
  CHECK(acquire_outcome({}, 3, true) == acquired);
}

TEST_CASE("an acquire with neither a lease nor an error is late, or declined if it did not wait") {
  CHECK(acquire_outcome({}, 0, false) == late);
  CHECK(acquire_outcome({}, 0, true) == declined);
}

TEST_CASE(
    "an acquire is cancelled by its caller and by the end of its client, and fails by others") {
  CHECK(acquire_outcome(boost::asio::error::operation_aborted, 0, false) == cancelled);
  CHECK(acquire_outcome(Errc::closed, 0, true) == cancelled);
  CHECK(acquire_outcome(Errc::deadline_exceeded, 0, false) == failed);
  CHECK(acquire_outcome(ServerErrc::no_auth, 0, true) == failed);
}

TEST_CASE("an outcome has the name of its enumerator") {
  CHECK(to_string(acquired) == "acquired");
  CHECK(to_string(late) == "late");
  CHECK(to_string(declined) == "declined");
  CHECK(to_string(cancelled) == "cancelled");
  CHECK(to_string(failed) == "failed");
}

}  // namespace
}  // namespace custodian::tests::acquire_outcome_test
