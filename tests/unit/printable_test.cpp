#include "printable.hpp"

#include <string>

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
