#include "run/outcome.hpp"

#include <boost/asio/error.hpp>

#include "support/catch.hpp"

namespace custodian::cli::outcome_test {

using namespace std::chrono_literals;

TEST_CASE("an exit status for each way of not having a lock") {
  CHECK(status_of({}) == ExitStatus::not_acquired);
  CHECK(status_of(Errc::node_deleted) == ExitStatus::not_acquired);
  CHECK(status_of(Errc::not_connected) == ExitStatus::unavailable);
  CHECK(status_of(Errc::deadline_exceeded) == ExitStatus::unavailable);
  CHECK(status_of(ServerErrc::connection_loss) == ExitStatus::unavailable);
  CHECK(status_of(ServerErrc::no_auth) == ExitStatus::no_permission);
  CHECK(status_of(ServerErrc::auth_failed) == ExitStatus::no_permission);
  CHECK(status_of(Errc::invalid_argument) == ExitStatus::usage);
  CHECK(status_of(Errc::session_timeout_too_short) == ExitStatus::usage);
  CHECK(status_of(Errc::request_too_large) == ExitStatus::usage);
  CHECK(status_of(Errc::malformed_contender) == ExitStatus::failure);
}

TEST_CASE("who is in the way is named") {
  Participant holder;
  holder.node = "/p/x-lock-0000000001";
  holder.identity = "host/17";
  const std::string text = refusal("/p", {}, holder);
  CHECK(text == "/p was not had in time: ahead is host/17 (/p/x-lock-0000000001)");
  CHECK(refusal("/p", Errc::not_connected, {}).starts_with("no server answered in time"));
}

TEST_CASE("a command has less time after a loss than it takes until the lock can be another's") {
  CHECK(grace_after_loss(OnLost::terminate, 10s, {}) == 800ms);
  CHECK(grace_after_loss(OnLost::terminate, 30s, {}) == 2400ms);
  CHECK(grace_after_loss(OnLost::terminate, 30s, 1h) == 800ms);
  CHECK(grace_after_loss(OnLost::terminate, 5s, 1h) == 400ms);
  CHECK(grace_after_loss(OnLost::kill, 10s, {}) == 0s);
}

}  // namespace custodian::cli::outcome_test
