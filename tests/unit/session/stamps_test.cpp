// The proofs that a server's answers give to the lease clock.

#include "custodian/session/session.hpp"
#include "support/catch.hpp"

namespace custodian::tests::stamps_test {

using custodian::error_code;
using custodian::is_answer_of_server;
using custodian::is_decided_by_quorum;
using custodian::ServerErrc;
namespace request = custodian::request;

TEST_CASE("a result that a server came to is its answer, be it an error", "[stamps]") {
  CHECK(is_answer_of_server(error_code{}));
  for (const ServerErrc result : {ServerErrc::no_node, ServerErrc::node_exists,
                                  ServerErrc::bad_version, ServerErrc::no_auth}) {
    CHECK(is_answer_of_server(result));
  }
}

TEST_CASE("a refusal to work is no answer, nor is what the client says itself", "[stamps]") {
  for (const ServerErrc refusal :
       {ServerErrc::connection_loss, ServerErrc::session_expired, ServerErrc::auth_failed,
        ServerErrc::closing, ServerErrc::session_moved, ServerErrc::not_read_only,
        ServerErrc::throttled}) {
    INFO(make_error_code(refusal).message());
    CHECK_FALSE(is_answer_of_server(refusal));
  }
  CHECK_FALSE(is_answer_of_server(custodian::Errc::not_connected));
  CHECK_FALSE(is_answer_of_server(custodian::Errc::closed));
}

TEST_CASE("a quorum decides about writes and transactions, and about nothing else", "[stamps]") {
  CHECK(is_decided_by_quorum(request::Create{}));
  CHECK(is_decided_by_quorum(request::Remove{}));
  CHECK(is_decided_by_quorum(request::Set{}));
  CHECK(is_decided_by_quorum(request::Multi{}));
  CHECK_FALSE(is_decided_by_quorum(request::Exists{}));
  CHECK_FALSE(is_decided_by_quorum(request::Get{}));
  CHECK_FALSE(is_decided_by_quorum(request::GetChildren{}));
  CHECK_FALSE(is_decided_by_quorum(request::GetAcl{}));
  // A leader that was replaced and does not know it answers even a sync.
  CHECK_FALSE(is_decided_by_quorum(request::Sync{}));
}

}  // namespace custodian::tests::stamps_test
