#include "custodian/lease/fencing_token.hpp"

#include <sstream>

#include "support/catch.hpp"

namespace custodian::tests::fencing_token_test {

using custodian::FencingToken;

TEST_CASE("a fencing token is printed with an epoch and a grant where it has them") {
  CHECK(to_string(FencingToken{}) == "0");
  CHECK(to_string(FencingToken{.value = 17}) == "17");
  CHECK(to_string(FencingToken{.epoch = 2, .value = 17}) == "2:17");
  CHECK(to_string(FencingToken{.value = 17, .grant = 3}) == "0:17:3");
  CHECK(to_string(FencingToken{.epoch = 2, .value = 17, .grant = 3}) == "2:17:3");
  std::ostringstream out;
  out << FencingToken{.value = 17, .grant = 3};
  CHECK(out.str() == "0:17:3");
}

TEST_CASE("of fencing tokens the epoch counts before the value, and the value before the grant") {
  CHECK(FencingToken{0, 9, 9} < FencingToken{1, 1, 0});
  CHECK(FencingToken{0, 1, 9} < FencingToken{0, 2, 0});
  CHECK(FencingToken{0, 1, 2} < FencingToken{0, 1, 10});
}

}  // namespace custodian::tests::fencing_token_test
