#include "custodian/error.hpp"

#include <algorithm>
#include <vector>

#include "support/catch.hpp"

namespace custodian::tests::error_test {
namespace {

/// All errors of the servers, of the C client and of the library.
std::vector<error_code> all_errors() {
  std::vector<error_code> all;
  for (int code = -130; code <= 0; ++code) all.push_back(make_error_code(ServerErrc{code}));
  for (int code = 0; code <= 30; ++code) all.push_back(make_error_code(Errc{code}));
  return all;
}

void check_members(ErrorCondition condition, const std::vector<error_code>& members) {
  for (const error_code& each : all_errors()) {
    CAPTURE(each.message(), make_error_condition(condition).message());
    const bool is_member = std::ranges::find(members, each) != members.end();
    CHECK((each == condition) == is_member);
  }
}

}  // namespace

TEST_CASE("errors: what may be tried again has changed nothing") {
  check_members(ErrorCondition::retryable, {ServerErrc::throttled, ServerErrc::session_moved,
                                            Errc::not_connected, Errc::deadline_exceeded});
}

TEST_CASE("errors: the outcome is unknown where a reply may be missing") {
  check_members(ErrorCondition::outcome_unknown,
                {ServerErrc::connection_loss, ServerErrc::operation_timeout,
                 ServerErrc::runtime_inconsistency, Errc::deadline_exceeded_outcome_unknown});
}

TEST_CASE("errors: a session that is over has taken its nodes along") {
  check_members(ErrorCondition::session_over,
                {ServerErrc::session_expired, ServerErrc::auth_failed, ServerErrc::closing,
                 Errc::session_lost, Errc::closed, Errc::lock_lost});
}

TEST_CASE("errors: a mistake of the caller is one whenever the call is repeated") {
  check_members(
      ErrorCondition::caller_mistake,
      {ServerErrc::bad_arguments, ServerErrc::invalid_acl, ServerErrc::no_children_for_ephemerals,
       ServerErrc::unimplemented, Errc::invalid_argument, Errc::forked, Errc::would_deadlock,
       Errc::session_timeout_too_short, Errc::request_too_large});
}

TEST_CASE("errors: other conditions are left to their own categories") {
  const error_code closed = Errc::closed;
  CHECK_FALSE(closed == boost::system::errc::operation_canceled);
  CHECK_FALSE(error_code{ServerErrc::connection_loss} == boost::system::errc::connection_reset);
}

}  // namespace custodian::tests::error_test
