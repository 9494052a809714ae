#include "custodian/locks/striped_mutex.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "custodian/error.hpp"
#include "support/catch.hpp"

namespace custodian::striped_mutex_test {
namespace {

constexpr std::size_t whole = std::size_t{1} << 32U;

TEST_CASE("a key's stripe is the CRC-32 of its bytes, modulo the number of stripes") {
  // The first value is the check value of CRC-32/ISO-HDLC. The others are as java.util.zip.CRC32
  // and zlib compute them.
  CHECK(stripe_of("123456789", whole) == 0xCBF43926);
  CHECK(stripe_of("", whole) == 0);
  CHECK(stripe_of("a", whole) == 0xE8B7BE43);
  CHECK(stripe_of("The quick brown fox jumps over the lazy dog", whole) == 0x414FA339);
  CHECK(stripe_of("caf\xC3\xA9", whole) == 0x98AD42B5);
  CHECK(stripe_of(std::string_view{"\0\0\0\0", 4}, whole) == 0x2144DF1C);
  CHECK(stripe_of("123456789", 5) == 0xCBF43926 % 5);
  CHECK(stripe_of("123456789", 1) == 0);
}

TEST_CASE("keys that differ in a number are spread over the stripes") {
  std::array<int, 5> keys{};
  for (int i = 0; i < 1000; ++i) ++keys.at(stripe_of("customer-" + std::to_string(i), keys.size()));
  CHECK(*std::ranges::min_element(keys) > 150);
  CHECK(*std::ranges::max_element(keys) < 250);
}

TEST_CASE("a key belongs to no stripe of none") {
  CHECK_THROWS_AS(static_cast<void>(stripe_of("a", 0)), Error);
}

}  // namespace
}  // namespace custodian::striped_mutex_test
