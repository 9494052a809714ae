#include "queue/known_identities.hpp"

#include "support/catch.hpp"

namespace custodian::tests::known_identities_test {
namespace {

using cli::KnownIdentities;

Inspection queue(std::int64_t transaction, std::string identity, bool asked = false) {
  return {.contenders = {{.participant = {.node = "/p/lock-1",
                                          .identity = std::move(identity),
                                          .token = {0, transaction}},
                          .is_asked_to_release = asked}}};
}

std::string shown(KnownIdentities& known, Inspection seen) {
  known.complete(seen);
  return seen.contenders.front().participant.identity;
}

TEST_CASE("an identity that was seen outlives the requests that replace it") {
  KnownIdentities known;
  CHECK(shown(known, queue(7, "holder")) == "holder");
  CHECK(shown(known, queue(7, "", true)) == "holder");
  CHECK(shown(known, queue(7, "", true)) == "holder");
}

TEST_CASE("an identity that was written back is shown, and not an older one") {
  KnownIdentities known;
  CHECK(shown(known, queue(7, "holder")) == "holder");
  CHECK(shown(known, queue(7, "renamed", true)) == "renamed");
  CHECK(shown(known, queue(7, "", true)) == "renamed");
}

TEST_CASE("a node of the same name that another transaction created has no identity yet") {
  KnownIdentities known;
  CHECK(shown(known, queue(7, "holder")) == "holder");
  CHECK(shown(known, queue(8, "", true)).empty());
  // A node that was missing in between has no known identity any more.
  CHECK(shown(known, queue(9, "holder")) == "holder");
  Inspection nobody;
  known.complete(nobody);
  CHECK(shown(known, queue(9, "", true)).empty());
}

TEST_CASE("an identity that its holder chose to be empty is not taken for a replaced one") {
  KnownIdentities known;
  CHECK(shown(known, queue(7, "holder")) == "holder");
  CHECK(shown(known, queue(7, "")).empty());
}

}  // namespace
}  // namespace custodian::tests::known_identities_test
