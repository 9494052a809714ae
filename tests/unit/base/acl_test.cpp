#include "custodian/acl.hpp"

#include "custodian/error.hpp"
#include "support/catch.hpp"

namespace custodian::tests::acl_test {
namespace {

#ifdef CUSTODIAN_HAS_TLS
TEST_CASE("the id of a digest is the one that ZooKeeper computes", "[acl]") {
  // The values are from ZooKeeper's documentation and its DigestAuthenticationProvider.
  CHECK(digest_id("super", "test") == "super:D/InIHSb7yEEbrWz8b9l71RjZJU=");
  CHECK(digest_id("super", "te:st") != digest_id("super", "test"));
}
#endif

TEST_CASE("a user of a digest has a name, without a colon", "[acl]") {
  CHECK_THROWS_AS(digest_id("", "test"), Error);
  CHECK_THROWS_AS(digest_id("su:per", "test"), Error);
}

}  // namespace
}  // namespace custodian::tests::acl_test
