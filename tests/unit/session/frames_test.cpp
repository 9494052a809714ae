#include "session/frames.hpp"

#include <string>

#include "support/catch.hpp"

namespace custodian::tests::frames_test {
namespace {

using detail::whole_frames;

std::string frame(std::size_t size) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift & 0xFFU);
  return bytes + std::string(size, 'x');
}

TEST_CASE("whole frames are counted, and of the next one its size is known from its length on",
          "[frames]") {
  const std::string two = frame(5) + frame(300);
  for (std::size_t part = 0; part < 20; ++part) {
    const std::string bytes = two + frame(16).substr(0, part);
    const auto found = whole_frames(bytes);
    CHECK(found.size == two.size());
    CHECK(found.next == (part < 4 ? 0 : 20));
  }
  CHECK(whole_frames("").size == 0);
  CHECK(whole_frames(frame(0)).size == 4);
  CHECK(whole_frames(two).next == 0);
}

TEST_CASE("a frame whose length is negative never ends", "[frames]") {
  const auto found = whole_frames("\xff\xff\xff\xff" + std::string(100, 'x'));
  CHECK(found.size == 0);
  CHECK(found.next > std::size_t{1} << 31U);
}

}  // namespace
}  // namespace custodian::tests::frames_test
