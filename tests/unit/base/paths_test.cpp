#include "base/paths.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"
#include "unit/refusal.hpp"

namespace custodian::tests::paths_test {

using custodian::join;
using custodian::name_of;
using custodian::parent_of;
using custodian::detail::absolute_namespace;
using custodian::detail::namespace_fault;
using custodian::detail::path_fault;
using custodian::detail::PathKind;
using custodian::detail::PathPrefix;
using custodian::detail::validate_path;
using namespace std::string_view_literals;

namespace {

struct BadPath {
  std::string_view path;
  std::string_view rule;
};

/// A code point in UTF-8, even one that no character has.
std::string utf8(char32_t c) {
  const auto byte = [](char32_t value) { return static_cast<char>(value); };
  if (c < 0x80) {
    return {byte(c)};
  }
  const char last = byte(0x80 | (c & 0x3F));
  if (c < 0x800) {
    return {byte(0xC0 | (c >> 6)), last};
  }
  const char middle = byte(0x80 | ((c >> 6) & 0x3F));
  if (c < 0x10000) {
    return {byte(0xE0 | (c >> 12)), middle, last};
  }
  return {byte(0xF0 | (c >> 18)), byte(0x80 | ((c >> 12) & 0x3F)), middle, last};
}

}  // namespace

TEST_CASE("good paths are accepted", "[paths]") {
  const std::string_view path =
      GENERATE("/"sv, "/a"sv, "/a/b"sv, "/a b"sv, "/ "sv, "/..."sv, "/.a"sv, "/a."sv, "/..a"sv,
               "/a.."sv, "/a/.b/c"sv, "/.../x"sv, "/a,b:2181"sv, "/~"sv, "/\u00a0"sv,
               "/\u00e9t\u00e9"sv, "/\u65e5\u672c"sv, "/\ud7ff"sv, "/\uf900"sv, "/\uffef"sv);
  CAPTURE(path);
  CHECK_FALSE(path_fault(path));
  CHECK_FALSE(path_fault(path, PathKind::sequential_prefix));
  CHECK_NOTHROW(validate_path("get", path));
}

TEST_CASE("a bad path is refused with the rule and the position", "[paths]") {
  const auto [path, rule] =
      GENERATE(BadPath{"", "must not be empty"}, BadPath{"a", "must start with '/', at byte 0"},
               BadPath{"a/b", "must start with '/', at byte 0"},
               BadPath{" /a", "must start with '/', at byte 0"},
               BadPath{".", "must start with '/', at byte 0"},
               BadPath{"//", "must not contain an empty name ('//'), at byte 1"},
               BadPath{"//a", "must not contain an empty name ('//'), at byte 1"},
               BadPath{"/a//b", "must not contain an empty name ('//'), at byte 3"},
               BadPath{"/a//", "must not contain an empty name ('//'), at byte 3"},
               BadPath{"/./a", "must not contain '.' or '..' as a name, at byte 1"},
               BadPath{"/../a", "must not contain '.' or '..' as a name, at byte 1"},
               BadPath{"/a/./b", "must not contain '.' or '..' as a name, at byte 3"},
               BadPath{"/a/../b", "must not contain '.' or '..' as a name, at byte 3"},
               BadPath{"/a\0b"sv, "must not contain NUL, at byte 2"},
               BadPath{"/\0"sv, "must not contain NUL, at byte 1"},
               BadPath{"/a\x01", "must not contain U+0001, at byte 2"},
               BadPath{"/a\n", "must not contain U+000A, at byte 2"},
               BadPath{"/a\x1f", "must not contain U+001F, at byte 2"},
               BadPath{"/a\x7f", "must not contain U+007F, at byte 2"},
               BadPath{"/\u00e9/\u0085", "must not contain U+0085, at byte 4"},
               BadPath{"/\ue000", "must not contain U+E000, at byte 1"},
               BadPath{"/\uf8ff", "must not contain U+F8FF, at byte 1"},
               BadPath{"/\ufff0", "must not contain U+FFF0, at byte 1"},
               BadPath{"/\uffff", "must not contain U+FFFF, at byte 1"},
               BadPath{"/\U00010000", "must not contain characters above U+FFFF, at byte 1"},
               BadPath{"/a/\U0001f600", "must not contain characters above U+FFFF, at byte 3"});
  CAPTURE(path);
  CHECK(path_fault(path) == std::string{rule});
  CHECK(path_fault(path, PathKind::sequential_prefix) == std::string{rule});
}

TEST_CASE("only a sequential prefix may end in a slash or a dot", "[paths]") {
  const auto [path, rule] =
      GENERATE(BadPath{"/a/", "must not end in '/', at byte 2"},
               BadPath{"/a/b/", "must not end in '/', at byte 4"},
               BadPath{"/.", "must not contain '.' or '..' as a name, at byte 1"},
               BadPath{"/..", "must not contain '.' or '..' as a name, at byte 1"},
               BadPath{"/a/.", "must not contain '.' or '..' as a name, at byte 3"},
               BadPath{"/a/..", "must not contain '.' or '..' as a name, at byte 3"});
  CAPTURE(path);
  CHECK(path_fault(path) == std::string{rule});
  CHECK_FALSE(path_fault(path, PathKind::sequential_prefix));
}

TEST_CASE("bytes that are not UTF-8 are refused", "[paths]") {
  struct Case {
    std::string_view what;
    std::string_view bytes;
  };
  const auto [what, bytes] = GENERATE(
      Case{"a continuation without a start", "\x80"}, Case{"the last continuation", "\xbf"},
      Case{"Latin-1", "\xe9t\xe9"}, Case{"two bytes cut short", "\xc3"},
      Case{"three bytes cut after one", "\xe2"}, Case{"three bytes cut after two", "\xe2\x82"},
      Case{"four bytes cut short", "\xf0\x9f\x98"}, Case{"a slash in a character", "\xe2\x82/"},
      Case{"a letter in a character", "\xc3g"}, Case{"a start in a character", "\xc3\xc3\xa9"},
      Case{"an overlong slash", "\xc0\xaf"}, Case{"an overlong NUL, as Java has it", "\xc0\x80"},
      Case{"an overlong dot in two bytes", "\xc1\xae"}, Case{"overlong in three", "\xe0\x9f\xbf"},
      Case{"overlong in four", "\xf0\x8f\xbf\xbf"}, Case{"the first surrogate", "\xed\xa0\x80"},
      Case{"the last surrogate", "\xed\xbf\xbf"}, Case{"above U+10FFFF", "\xf4\x90\x80\x80"},
      Case{"a start of five bytes", "\xf8\x88\x80\x80\x80"}, Case{"0xfe", "\xfe"},
      Case{"0xff", "\xff"});
  CAPTURE(what);
  const auto rule = std::string{"must be UTF-8, at byte 2"};
  CHECK(path_fault("/a" + std::string{bytes}) == rule);
  CHECK(path_fault("/a" + std::string{bytes} + "/b") == rule);
  CHECK(path_fault("/a" + std::string{bytes}, PathKind::sequential_prefix) == rule);
}

TEST_CASE("every character is judged as the server judges it", "[paths]") {
  std::vector<char32_t> wrong;
  for (char32_t c = 0; c <= 0x110000; ++c) {
    const bool refused =
        c <= 0x1F || (c >= 0x7F && c <= 0x9F) || (c >= 0xD800 && c <= 0xF8FF) || c >= 0xFFF0;
    if (path_fault("/x" + utf8(c) + "y").has_value() != refused) {
      wrong.push_back(c);
    }
  }
  CHECK(wrong.empty());
}

TEST_CASE("an error about a path names operation, path, argument and rule", "[paths]") {
  check_refused([] { validate_path("create", "/a//b"); }, "create",
                "path must not contain an empty name ('//'), at byte 3");
  CHECK_THROWS_AS(validate_path("create", "/a/"), custodian::Error);
  CHECK_NOTHROW(validate_path("create", "/a/", PathKind::sequential_prefix));
}

TEST_CASE("a path is taken apart and joined", "[paths]") {
  struct Case {
    std::string_view path;
    std::string_view parent;
    std::string_view name;
  };
  const auto [path, parent, name] =
      GENERATE(Case{"/a", "/", "a"}, Case{"/a/b", "/a", "b"}, Case{"/a/b/c", "/a/b", "c"},
               Case{"/", "/", ""}, Case{"/a/", "/a", ""});
  CAPTURE(path);
  CHECK(parent_of(path) == parent);
  CHECK(name_of(path) == name);
  CHECK(join(parent, name) == path);
}

TEST_CASE("a prefix is added and taken off again", "[paths]") {
  struct Case {
    std::string_view chroot;
    std::string_view name_space;
    std::string_view path;
    std::string_view full;
  };
  const auto [chroot, name_space, path, full] = GENERATE(
      Case{"", "", "/", "/"}, Case{"", "", "/a", "/a"}, Case{"/", "/", "/", "/"},
      Case{"/", "", "/a", "/a"}, Case{"/app", "", "/", "/app"}, Case{"/app", "", "/a", "/app/a"},
      Case{"/app", "/", "/a", "/app/a"}, Case{"/", "/ns", "/a/b", "/ns/a/b"},
      Case{"", "/ns", "/", "/ns"}, Case{"/app/x", "/ns", "/", "/app/x/ns"},
      Case{"/app", "/ns", "/a", "/app/ns/a"}, Case{"/app", "", "/app", "/app/app"});
  CAPTURE(chroot, name_space, path);
  const PathPrefix prefix{chroot, name_space};
  CHECK(prefix.add(path) == full);
  CHECK(prefix.strip(full) == std::string{path});
  CHECK(prefix.root() == prefix.add("/"));
}

TEST_CASE("a sequential child of the root is created below the prefix", "[paths]") {
  CHECK(PathPrefix{"/app"}.add("/", PathKind::sequential_prefix) == "/app/");
  CHECK(PathPrefix{"/app"}.add("/a/", PathKind::sequential_prefix) == "/app/a/");
  CHECK(PathPrefix{}.add("/", PathKind::sequential_prefix) == "/");
}

TEST_CASE("a path beside the prefix is not below it", "[paths]") {
  const std::string_view path =
      GENERATE("/application"sv, "/app2/a"sv, "/ap"sv, "/"sv, "/b"sv, ""sv);
  CAPTURE(path);
  CHECK_FALSE(PathPrefix{"/app"}.strip(path));
}

TEST_CASE("prefixes that add the same are equal", "[paths]") {
  CHECK(PathPrefix{} == PathPrefix{"/", "/"});
  CHECK(PathPrefix{"/a", "/b"} == PathPrefix{"/a/b"});
  CHECK_FALSE(PathPrefix{"/a"} == PathPrefix{"/b"});
}

TEST_CASE("a namespace has one form", "[paths]") {
  CHECK(absolute_namespace("").empty());
  CHECK(absolute_namespace("/").empty());
  CHECK(absolute_namespace("app") == "/app");
  CHECK(absolute_namespace("/team/app") == "/team/app");
  CHECK_FALSE(namespace_fault(""));
  CHECK_FALSE(namespace_fault("/team/app"));
  CHECK(namespace_fault("/team/"));
  CHECK(namespace_fault("/team//app"));
}

}  // namespace custodian::tests::paths_test
