#include "atomics/transact_step.hpp"

#include <boost/asio/error.hpp>

#include "support/catch.hpp"

namespace custodian::tests::transact_step_test {
namespace {

using recipes_detail::after_commit;
using recipes_detail::CommitRefused;
using recipes_detail::CommitStep;
using recipes_detail::Doubt;
using recipes_detail::SessionIs;

CommitStep step(const error_code& error, CommitRefused refused, Doubt doubt = Doubt::none,
                SessionIs session = SessionIs::the_same) {
  return after_commit(error, refused, doubt, session, Settle::exactly_once);
}

}  // namespace

TEST_CASE("transact step: a commit without an error is done") {
  CHECK(step({}, CommitRefused::nothing) == CommitStep::done);
  CHECK(step({}, CommitRefused::nothing, Doubt::applied_perhaps, SessionIs::another) ==
        CommitStep::done);
}

TEST_CASE("transact step: a lost reply is found out about by a repetition in the same session") {
  const error_code lost = ServerErrc::connection_loss;
  CHECK(step(lost, CommitRefused::nothing) == CommitStep::repeat);
  CHECK(step(lost, CommitRefused::nothing, Doubt::applied_perhaps) == CommitStep::repeat);
  CHECK(step(lost, CommitRefused::nothing, Doubt::none, SessionIs::another) == CommitStep::fail);
  CHECK(after_commit(lost, CommitRefused::nothing, Doubt::none, SessionIs::the_same,
                     Settle::left_to_caller) == CommitStep::fail);
}

TEST_CASE("transact step: what was given up is not repeated") {
  for (const error_code& error :
       {error_code{boost::asio::error::operation_aborted}, error_code{Errc::closed},
        error_code{Errc::deadline_exceeded}, error_code{Errc::deadline_exceeded_outcome_unknown}}) {
    INFO(error.message());
    CHECK(step(error, CommitRefused::nothing) == CommitStep::fail);
  }
}

TEST_CASE("transact step: a witness that is there proves the earlier try") {
  CHECK(step(ServerErrc::node_exists, CommitRefused::witness, Doubt::applied_perhaps) ==
        CommitStep::done);
}

TEST_CASE("transact step: after a doubt a refusal in another session proves nothing") {
  for (const CommitRefused refused :
       {CommitRefused::witness, CommitRefused::conflicting, CommitRefused::other}) {
    CHECK(step(ServerErrc::bad_version, refused, Doubt::applied_perhaps, SessionIs::another) ==
          CommitStep::fail);
  }
}

TEST_CASE("transact step: a conflict calls the function again, if the earlier try is out") {
  for (const Doubt doubt : {Doubt::none, Doubt::applied_perhaps}) {
    CHECK(step(ServerErrc::bad_version, CommitRefused::conflicting, doubt) == CommitStep::again);
    CHECK(step(ServerErrc::no_node, CommitRefused::conflicting, doubt) == CommitStep::again);
    CHECK(step(ServerErrc::no_auth, CommitRefused::other, doubt) == CommitStep::fail);
  }
  CHECK(step(ServerErrc::node_exists, CommitRefused::conflicting) == CommitStep::again);
  // A node that exists may be removed before the earlier try arrives, which is then applied.
  CHECK(step(ServerErrc::node_exists, CommitRefused::conflicting, Doubt::applied_perhaps) ==
        CommitStep::fail);
}

}  // namespace custodian::tests::transact_step_test
