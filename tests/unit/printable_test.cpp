#include "printable.hpp"

#include <string>

#include "custodian/error.hpp"
#include "support/catch.hpp"

using custodian::detail::printable;
using namespace std::string_literals;

TEST_CASE("what would cut a message short or break its line is written as an escape",
          "[printable]") {
  CHECK(printable("") == "");
  CHECK(printable("/a b/\u00e9~") == "/a b/\u00e9~");
  CHECK(printable("a\0b"s) == "a\\x00b");
  CHECK(printable("\n\t\x1b\x1f\x7f") == "\\x0a\\x09\\x1b\\x1f\\x7f");
  CHECK(printable("\"\\") == "\\\"\\\\");
}

TEST_CASE("whatever an error is told, it says in one line and escapes but once", "[printable]") {
  using custodian::Errc;
  using custodian::Error;
  const std::string said =
      Error{Errc::not_connected, "get", "/a\nb", "no \x1b[2J\n of " + printable("\\\n")}.what();
  CHECK(said.starts_with(R"(get /a\x0ab (no \x1b[2J\x0a of \\\x0a): )"));
}
