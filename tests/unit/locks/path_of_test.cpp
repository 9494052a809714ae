#include "custodian/locks/path_of.hpp"

#include <cstdint>
#include <set>
#include <string>

#include "custodian/error.hpp"
#include "support/catch.hpp"

namespace custodian::path_of_test {
namespace {

using namespace std::string_literals;

error_code refused(std::string_view pattern, const std::vector<std::string>& values) {
  try {
    static_cast<void>(recipes_detail::fill_path(pattern, values));
    return {};
  } catch (const Error& error) {
    return error.code();
  }
}

TEST_CASE("a path is made of text and numbers, each in its place") {
  CHECK(path_of("/orders/{}/stock", 17) == "/orders/17/stock");
  CHECK(path_of("/orders/{}/items/{}", "a7", std::uint64_t{18446744073709551615U}) ==
        "/orders/a7/items/18446744073709551615");
  CHECK(path_of("/order-{}", std::string{"a b"}) == "/order-a b");
  CHECK(path_of("/{}", std::string_view{"-1"}) == path_of("/{}", -1));
  CHECK(path_of("/none") == "/none");
}

TEST_CASE("no value leads elsewhere") {
  CHECK(path_of("/users/{}", "../admin") == "/users/..%2Fadmin");
  CHECK(path_of("/users/{}", "..") == "/users/%2E%2E");
  CHECK(path_of("/users/{}/lock", ".") == "/users/%2E/lock");
  CHECK(path_of("/users/{}", "a/b") == "/users/a%2Fb");
  CHECK(path_of("/users/{}", "a%2Fb") == "/users/a%252Fb");
  CHECK(path_of("/users/{}", "a\0b"s) == "/users/a%00b");
  CHECK(path_of("/users/{}", "line\n\x7F") == "/users/line%0A%7F");
  CHECK(path_of("/users/{}", "caf\xC3\xA9") == "/users/caf%C3%A9");
  // The value need not be UTF-8.
  CHECK(path_of("/users/{}", "\xFF\xC0/") == "/users/%FF%C0%2F");
  // Braces in a value are not placeholders.
  CHECK(path_of("/{}/{}", "{}", "x") == "/{}/x");
}

TEST_CASE("different values make different paths") {
  std::set<std::string> paths;
  std::size_t values = 0;
  for (int byte = 0; byte < 256; ++byte) {
    for (const std::string& value :
         {std::string(1, static_cast<char>(byte)), std::string(2, static_cast<char>(byte)),
          "%" + std::string(1, static_cast<char>(byte))}) {
      const std::string path = path_of("/a/{}/b", value);
      CHECK(path.find('/', 3) == path.size() - 2);
      paths.insert(path);
      ++values;
    }
  }
  // One value occurs twice: "%%".
  CHECK(paths.size() == values - 1);
}

TEST_CASE("a pattern that does not fit its values is refused, with the reason") {
  CHECK(refused("/{}", {}) == Errc::invalid_argument);
  CHECK(refused("/a", {"b"}) == Errc::invalid_argument);
  CHECK(refused("/{}", {""}) == Errc::invalid_argument);
  CHECK(refused("/{}-{}", {"a", "b"}) == Errc::invalid_argument);
  CHECK(refused("/{", {"a"}) == Errc::invalid_argument);
  CHECK(refused("/}{}", {"a"}) == Errc::invalid_argument);
  CHECK(refused("/{0}", {"a"}) == Errc::invalid_argument);
  CHECK(refused("{}", {"/a"}) == Errc::invalid_argument);
  CHECK(refused("", {}) == Errc::invalid_argument);
  CHECK_FALSE(refused("/{}/{}", {"a", "b"}));
  CHECK(refused("/{}", {"zookeeper"}) == Errc::invalid_argument);
  CHECK(refused("/{}/a", {"zookeeper"}) == Errc::invalid_argument);
  CHECK(refused("/zoo{}/{}", {"keeper", "config"}) == Errc::invalid_argument);
  CHECK_FALSE(refused("/{}", {"zookeepers"}));
  CHECK_FALSE(refused("/a/{}", {"zookeeper"}));
  const char* const null = nullptr;
  CHECK_THROWS_AS(static_cast<void>(path_of("/{}", null)), Error);
  try {
    static_cast<void>(path_of("/{}-{}", "a-b", "c"));
    FAIL("two values in one part are refused");
  } catch (const Error& error) {
    CHECK(std::string{error.what()}.find("/{}-{}") != std::string::npos);
    CHECK(std::string{error.what()}.find("two {}") != std::string::npos);
  }
}

}  // namespace
}  // namespace custodian::path_of_test
