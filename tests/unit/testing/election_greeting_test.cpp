#include "cluster/election_greeting.hpp"

#include <string>

#include "support/catch.hpp"

namespace custodian::tests::election_greeting_test {

using custodian::testing::ElectionGreeting;

namespace {

std::string greeting(char version, const std::string& address) {
  const std::string length{'\0', '\0', '\0', static_cast<char>(address.size())};
  return std::string{'\xff', '\xff', '\xff', '\xff', '\xff', '\xff', '\0', version} +
         std::string(7, '\0') + '\x02' + length + address;
}

}  // namespace

TEST_CASE("a greeting names another address, and what follows is left alone",
          "[election-greeting]") {
  for (const char version : {'\0', '\x01'}) {
    ElectionGreeting edited{"127.0.0.1:2"};
    CHECK(edited.edit(greeting(version, "10.11.12.13:14151") + "notification") ==
          greeting(version, "127.0.0.1:2") + "notification");
    CHECK(edited.edit(greeting(version, "again")) == greeting(version, "again"));
  }
}

TEST_CASE("a greeting may come in pieces of any size", "[election-greeting]") {
  const std::string stream = greeting('\0', "10.11.12.13:14151") + "more";
  for (std::size_t size = 1; size <= stream.size(); ++size) {
    ElectionGreeting edited{"127.0.0.1:2"};
    std::string result;
    for (std::size_t begin = 0; begin < stream.size(); begin += size) {
      result += edited.edit(std::string_view{stream}.substr(begin, size));
    }
    CAPTURE(size);
    CHECK(result == greeting('\0', "127.0.0.1:2") + "more");
  }
}

TEST_CASE("what is no greeting passes as it is", "[election-greeting]") {
  ElectionGreeting unknown_version{"127.0.0.1:2"};
  CHECK(unknown_version.edit(greeting('\x02', "somewhere:1")) == greeting('\x02', "somewhere:1"));
  ElectionGreeting absurd_length{"127.0.0.1:2"};
  std::string absurd = greeting('\0', "somewhere:1");
  absurd[16] = '\x7f';
  CHECK(absurd_length.edit(absurd) == absurd);
}

}  // namespace custodian::tests::election_greeting_test
