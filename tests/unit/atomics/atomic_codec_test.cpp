#include "atomics/atomic_codec.hpp"

#include <limits>

#include "support/catch.hpp"

namespace custodian::tests::atomic_codec_test {
namespace {

using recipes_detail::AtomicChange;
using recipes_detail::decode_atomic;
using recipes_detail::encode_atomic;
using recipes_detail::modified;
using Kind = recipes_detail::AtomicChangeKind;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

TEST_CASE("an atomic number has its own length or none, and none is zero") {
  CHECK(encode_atomic(std::int64_t{1}) == std::string("\0\0\0\0\0\0\0\1", 8));
  CHECK(encode_atomic(std::int32_t{-2}) == "\xff\xff\xff\xfe");
  CHECK(decode_atomic<std::int64_t>("") == 0);
  CHECK(decode_atomic<std::int32_t>("") == 0);
  for (const std::int64_t number : {std::int64_t{0}, std::int64_t{-1}, most, least}) {
    CHECK(decode_atomic<std::int64_t>(encode_atomic(number)) == number);
  }
  for (const std::size_t length : {1U, 3U, 4U, 5U, 7U, 9U, 16U}) {
    CHECK_FALSE(decode_atomic<std::int64_t>(std::string(length, 'x')));
  }
  CHECK_FALSE(decode_atomic<std::int32_t>(std::string(8, '\0')));
  CHECK(decode_atomic<std::string>("any") == "any");
}

TEST_CASE("an atomic number wraps around at its ends") {
  using Change = AtomicChange<std::int64_t>;
  CHECK(modified(Change{Kind::add, 1}, most) == least);
  CHECK(modified(Change{Kind::add, -1}, least) == most);
  CHECK(modified(Change{Kind::add, least}, least) == 0);
  CHECK(modified(Change{Kind::add, -7}, std::int64_t{5}) == -2);
}

TEST_CASE("a change that changes nothing is not written") {
  using Change = AtomicChange<std::int32_t>;
  CHECK(modified(Change{Kind::raise, 6}, 5) == 6);
  CHECK_FALSE(modified(Change{Kind::raise, 5}, 5));
  CHECK_FALSE(modified(Change{Kind::raise, -9}, 5));
  CHECK(modified(Change{Kind::lower, 4}, 5) == 4);
  CHECK_FALSE(modified(Change{Kind::lower, 5}, 5));
  CHECK(modified(Change{Kind::exchange, 5}, 5) == 5);
  CHECK(modified(Change{Kind::exchange_if_equal, 9, 5}, 5) == 9);
  CHECK_FALSE(modified(Change{Kind::exchange_if_equal, 9, 4}, 5));
  const AtomicChange<std::string> text{Kind::exchange_if_equal, "new", "old"};
  CHECK(modified(text, std::string{"old"}) == "new");
  CHECK_FALSE(modified(text, std::string{"other"}));
}

}  // namespace
}  // namespace custodian::tests::atomic_codec_test
