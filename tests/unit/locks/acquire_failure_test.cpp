#include "locks/acquire_failure.hpp"

#include <boost/asio/error.hpp>

#include "support/catch.hpp"

namespace custodian::recipes_detail::acquire_failure_test {
namespace {

TEST_CASE("who has been seen ahead keeps others out, whatever became of ZooKeeper since") {
  for (const bool connected : {false, true}) {
    CHECK(acquire_failure({{}, true, connected}) == AcquireFailure::busy);
    CHECK(acquire_failure({Errc::not_connected, true, connected}) == AcquireFailure::busy);
  }
}

TEST_CASE("an acquire that was late with nobody in sight is busy if there is a connection") {
  CHECK(acquire_failure({{}, false, true}) == AcquireFailure::busy);
  CHECK(acquire_failure({{}, false, false}) == AcquireFailure::away);
}

TEST_CASE("ZooKeeper is away if there is no connection and no answer, and for no other reason") {
  for (const bool connected : {false, true}) {
    for (const error_code error :
         {make_error_code(Errc::deadline_exceeded), make_error_code(Errc::not_connected),
          make_error_code(Errc::deadline_exceeded_outcome_unknown),
          make_error_code(Errc::session_lost), make_error_code(ServerErrc::connection_loss),
          make_error_code(ServerErrc::operation_timeout), make_error_code(ServerErrc::throttled)}) {
      CHECK(acquire_failure({error, false, connected}) ==
            (connected ? AcquireFailure::busy : AcquireFailure::away));
    }
    for (const error_code error :
         {make_error_code(Errc::closed), make_error_code(Errc::forked),
          make_error_code(Errc::invalid_argument), make_error_code(Errc::node_deleted),
          make_error_code(Errc::would_deadlock), make_error_code(Errc::malformed_contender),
          make_error_code(ServerErrc::no_auth),
          error_code{boost::asio::error::operation_aborted}}) {
      CHECK(acquire_failure({error, false, connected}) == AcquireFailure::failed);
      CHECK(acquire_failure({error, true, connected}) == AcquireFailure::failed);
    }
  }
}

}  // namespace
}  // namespace custodian::recipes_detail::acquire_failure_test
