#include "acquire/not_acquired.hpp"

#include "support/catch.hpp"

namespace custodian::recipes_detail::not_acquired_test {
namespace {

TEST_CASE("who was seen ahead is the reason, with or without a connection", "[acquire]") {
  CHECK(why_not_acquired(true, true) == NotAcquired::blocked);
  CHECK(why_not_acquired(true, false) == NotAcquired::blocked);
  CHECK(why_not_acquired(false, true) == NotAcquired::no_answer);
  CHECK(why_not_acquired(false, false) == NotAcquired::no_connection);
}

TEST_CASE("an answer was wanting if the servers did not give one, or refused to work for now",
          "[acquire]") {
  for (const error_code error :
       {make_error_code(Errc::deadline_exceeded),
        make_error_code(Errc::deadline_exceeded_outcome_unknown),
        make_error_code(Errc::not_connected), make_error_code(Errc::session_lost),
        make_error_code(ServerErrc::connection_loss),
        make_error_code(ServerErrc::operation_timeout), make_error_code(ServerErrc::throttled)}) {
    CHECK(is_lack_of_answer(error));
  }
  for (const error_code error :
       {error_code{}, make_error_code(Errc::closed), make_error_code(Errc::invalid_argument),
        make_error_code(Errc::node_deleted), make_error_code(Errc::session_timeout_too_short),
        make_error_code(ServerErrc::no_auth)}) {
    CHECK_FALSE(is_lack_of_answer(error));
  }
}

TEST_CASE("each reason is explained in words, and none needs no words", "[acquire]") {
  CHECK(explain(NotAcquired::none, {}).empty());
  CHECK(explain(NotAcquired::blocked, {}) == "somebody else is ahead");
  const Participant other{.node = "/lock/x-lock-0000000001", .identity = "host/4711"};
  CHECK(explain(NotAcquired::blocked, other) ==
        "host/4711 (node /lock/x-lock-0000000001) is ahead");
  const Participant own{.node = "/lock/n", .identity = "host/1", .own = true};
  CHECK(explain(NotAcquired::blocked, own, "/lock") ==
        "/lock: host/1 (node /lock/n) is ahead; it is another acquire of this client, and if the "
        "same task holds it, the task waits for itself");
  for (const NotAcquired reason :
       {NotAcquired::no_answer, NotAcquired::no_connection, NotAcquired::context_not_run}) {
    CHECK_FALSE(explain(reason, {}).empty());
    CHECK(explain(reason, {}, "/p").starts_with("/p: "));
    CHECK_FALSE(to_string(reason).empty());
  }
  CHECK(to_string(NotAcquired::none) == "acquired");
  CHECK(to_string(NotAcquired::blocked) == "blocked");
}

TEST_CASE("an acquire says by what it has lost a lease", "[acquire]") {
  CHECK(error_of(LossReason::session_over) == Errc::session_lost);
  CHECK(error_of(LossReason::lease_expired) == Errc::session_lost);
  CHECK(error_of(LossReason::suspended) == Errc::session_lost);
  CHECK(error_of(LossReason::node_deleted) == Errc::node_deleted);
  CHECK(error_of(LossReason::held_too_long) == Errc::lock_lost);
  CHECK(error_of(LossReason::closed) == Errc::closed);
}

}  // namespace
}  // namespace custodian::recipes_detail::not_acquired_test
