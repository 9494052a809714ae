#include "wire/packet_framing.hpp"

#include <string>

#include "support/catch.hpp"

namespace custodian::tests::packet_framing_test {

using custodian::testing::PacketFraming;

namespace {

std::string packet(std::size_t size) {
  return {static_cast<char>(size >> 24 & 0xff), static_cast<char>(size >> 16 & 0xff),
          static_cast<char>(size >> 8 & 0xff), static_cast<char>(size & 0xff)};
}

std::string packet_with_body(std::size_t size) { return packet(size) + std::string(size, '\xff'); }

}  // namespace

TEST_CASE("packets are counted where they end", "[packet-framing]") {
  PacketFraming framing;
  CHECK(framing.advance(packet_with_body(3)) == 1);
  CHECK(framing.advance(packet_with_body(300) + packet_with_body(70'000)) == 2);
  CHECK(framing.advance({}) == 0);
}

TEST_CASE("packets are counted whatever the pieces in which they come", "[packet-framing]") {
  const std::string stream = packet_with_body(5) + packet_with_body(0) + packet_with_body(260);
  for (std::size_t size = 1; size <= stream.size(); ++size) {
    PacketFraming framing;
    std::uint64_t packets = 0;
    for (std::size_t begin = 0; begin < stream.size(); begin += size) {
      packets += framing.advance(std::string_view{stream}.substr(begin, size));
    }
    CAPTURE(size);
    CHECK(packets == 3);
  }
}

TEST_CASE("a packet without a body ends with its length", "[packet-framing]") {
  PacketFraming framing;
  CHECK(framing.advance(packet(0)) == 1);
  CHECK(framing.advance(packet(0) + packet(0)) == 2);
}

TEST_CASE("bytes that belong to the next packets are told without going on", "[packet-framing]") {
  PacketFraming framing;
  const std::string stream = packet_with_body(5) + packet_with_body(0) + packet_with_body(260);
  CHECK(framing.bytes_within(stream, 0) == 0);
  CHECK(framing.bytes_within(stream, 1) == 9);
  CHECK(framing.bytes_within(stream, 2) == 13);
  CHECK(framing.bytes_within(stream, 3) == stream.size());
  CHECK(framing.bytes_within(stream, 100) == stream.size());
  CHECK(framing.bytes_within(std::string_view{stream}.substr(0, 7), 1) == 7);
}

TEST_CASE("the rest of a packet that has begun counts as one", "[packet-framing]") {
  const std::string stream = packet_with_body(5) + packet_with_body(1);
  for (std::size_t begun = 0; begun < 9; ++begun) {
    PacketFraming framing;
    framing.advance(std::string_view{stream}.substr(0, begun));
    CAPTURE(begun);
    CHECK(framing.bytes_within(std::string_view{stream}.substr(begun), 1) == 9 - begun);
  }
}

TEST_CASE("a length with its highest bit set is a long packet", "[packet-framing]") {
  PacketFraming framing;
  CHECK(framing.advance("\xff\xff\xff\xff and more") == 0);
  CHECK(framing.bytes_within("so many", 1) == 7);
}

}  // namespace custodian::tests::packet_framing_test
