#include "shared/big_endian.hpp"

#include <cstdint>
#include <limits>

#include "support/catch.hpp"

namespace custodian::tests::big_endian_test {
namespace {

using recipes_detail::from_big_endian;
using recipes_detail::to_big_endian;

template <std::size_t Size>
std::string raw(const char (&bytes)[Size]) {
  return {bytes, Size - 1};
}

TEST_CASE("numbers are written as Java's ByteBuffer writes them", "[big-endian]") {
  CHECK(to_big_endian(std::int32_t{0}) == raw("\0\0\0\0"));
  CHECK(to_big_endian(std::int32_t{1}) == raw("\0\0\0\x01"));
  CHECK(to_big_endian(std::int32_t{0x12345678}) == raw("\x12\x34\x56\x78"));
  CHECK(to_big_endian(std::int32_t{-1}) == raw("\xff\xff\xff\xff"));
  CHECK(to_big_endian(std::numeric_limits<std::int32_t>::min()) == raw("\x80\0\0\0"));
  CHECK(to_big_endian(std::numeric_limits<std::int32_t>::max()) == raw("\x7f\xff\xff\xff"));
  CHECK(to_big_endian(std::int64_t{0x0102030405060708}) == raw("\1\2\3\4\5\6\7\x08"));
}

TEST_CASE("numbers are read as they were written", "[big-endian]") {
  for (const std::int32_t number :
       {0, 1, -1, 127, 128, 255, 256, -256, 0x12345678, std::numeric_limits<std::int32_t>::min(),
        std::numeric_limits<std::int32_t>::max()}) {
    CHECK(from_big_endian<std::int32_t>(to_big_endian(number)) == number);
    const std::int64_t wide = std::int64_t{number} << 31;
    CHECK(from_big_endian<std::int64_t>(to_big_endian(wide)) == wide);
  }
}

TEST_CASE("more bytes than a number has, or less, are none", "[big-endian]") {
  for (const std::size_t size : {0U, 1U, 3U, 5U, 8U}) {
    CHECK_FALSE(from_big_endian<std::int32_t>(std::string(size, '\0')));
  }
  CHECK_FALSE(from_big_endian<std::int64_t>(std::string(4, '\0')));
}

}  // namespace
}  // namespace custodian::tests::big_endian_test
