// Tokens, as resources outside of the library see them.

#include "token.hpp"

#include <string>

#include "support/catch.hpp"

namespace custodian::tests::token_test {

using namespace custodian::chaos;

TEST_CASE("a token is read from its text, and has that text") {
  const auto check = [](const std::string& text, const Token& token) {
    CAPTURE(text);
    CHECK(parse_token(text) == token);
    CHECK(to_string(token) == text);
  };
  check("0", {});
  check("17", {.value = 17});
  check("2:17", {.epoch = 2, .value = 17});
  check("0:17:3", {.value = 17, .grant = 3});
  check("2:17:3", {.epoch = 2, .value = 17, .grant = 3});
}

TEST_CASE("what is no token is not read as one") {
  for (const char* text : {"", "x", "1x", "-1", "-0", "1:", ":1", "1:2:", "1::2", "1:2:3:4", "1.2",
                           "1:2.3", " 1", "99999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_token(text));
  }
}

TEST_CASE("the epoch counts before the value, and the value before the grant") {
  CHECK(Token{0, 9, 9} < Token{1, 1, 0});
  CHECK(Token{0, 1, 9} < Token{0, 2, 0});
  CHECK(Token{0, 1, 2} < Token{0, 1, 10});
}

}  // namespace custodian::tests::token_test
