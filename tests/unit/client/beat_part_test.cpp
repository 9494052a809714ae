#include "client/beat_part.hpp"

#include <string>

#include "base/encoded_size.hpp"
#include "support/catch.hpp"

namespace custodian::detail::beat_part_test {
namespace {

/// The number of checks that fit into one part, with paths of this size.
std::size_t checks_in_one(std::size_t max_request_size, std::size_t path_size) {
  BeatPart part{max_request_size};
  while (part.add(path_size)) {
  }
  return part.checks();
}

/// The encoded size of a transaction with `checks` checks.
std::size_t size_of(std::size_t checks, std::size_t path_size) {
  request::Multi multi;
  for (std::size_t i = 0; i != checks; ++i) {
    multi.operations.emplace_back(transaction::Check{std::string(path_size, '/')});
  }
  return encoded_size(multi);
}

TEST_CASE("a part of a beat has five hundred checks where paths are short", "[beat_part]") {
  CHECK(checks_in_one(0xfffff, 89) == 500);
  CHECK(checks_in_one(0xfffff, 1) == 500);
}

TEST_CASE("a part of a beat fills a quarter of what servers accept, and no more", "[beat_part]") {
  for (const std::size_t path_size : {1UL, 49UL, 89UL, 517UL, 2159UL}) {
    for (const std::size_t limit : {1024UL, 4096UL, 32768UL, 0xfffffUL}) {
      const std::size_t checks = checks_in_one(limit, path_size);
      CAPTURE(path_size, limit, checks);
      CHECK((checks == 1 || size_of(checks, path_size) <= limit / 4));
      CHECK((checks == 500 || size_of(checks + 1, path_size) > limit / 4));
    }
  }
}

TEST_CASE("a check that is larger than a part goes alone", "[beat_part]") {
  BeatPart part{4096};
  CHECK(part.add(3000));
  CHECK_FALSE(part.add(1));
  BeatPart filled{4096};
  CHECK(filled.add(10));
  CHECK_FALSE(filled.add(3000));
  CHECK(filled.add(10));
}

}  // namespace
}  // namespace custodian::detail::beat_part_test
