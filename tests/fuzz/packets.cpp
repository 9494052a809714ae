/// \file
/// Bytes from a network or a node. The first byte is the size of the pieces in which they arrive,
/// which must make no difference.

#include <algorithm>
#include <cstdint>

#include "cluster/election_greeting.hpp"
#include "fuzz.hpp"
#include "shared/big_endian.hpp"
#include "targets.hpp"
#include "wire/packet_framing.hpp"

namespace custodian::fuzz {
namespace {

template <typename Function>
void for_each_piece(std::string_view bytes, std::size_t size, Function function) {
  for (std::size_t begin = 0; begin < bytes.size(); begin += size) {
    function(bytes.substr(begin, size));
  }
}

std::uint32_t length_at(std::string_view bytes) {
  std::uint32_t length = 0;
  for (const char each : bytes.substr(0, 4))
    length = length << 8 | static_cast<unsigned char>(each);
  return length;
}

/// The ends of the complete packets.
std::vector<std::size_t> ends_of_packets(std::string_view stream) {
  std::vector<std::size_t> ends;
  for (std::size_t at = 0; stream.size() - at >= 4;) {
    const std::size_t length = length_at(stream.substr(at));
    if (stream.size() - at - 4 < length) break;
    at += 4 + length;
    ends.push_back(at);
  }
  return ends;
}

void check_framing(std::string_view stream, std::size_t size) {
  const auto ends = ends_of_packets(stream);
  const testing::PacketFraming start;
  testing::PacketFraming framing;
  std::uint64_t packets = 0;
  std::size_t seen = 0;
  for_each_piece(stream, size, [&](std::string_view piece) {
    const std::uint64_t ended = framing.advance(piece);
    seen += piece.size();
    packets += ended;
    require(
        static_cast<std::size_t>(std::ranges::upper_bound(ends, seen) - ends.begin()) == packets,
        "packets are counted where they end");
  });
  for (std::size_t count = 0; count <= ends.size(); ++count) {
    const std::size_t within = start.bytes_within(stream, count);
    require(within == (count == 0 ? 0 : ends[count - 1]), "so many packets have so many bytes");
  }
  require(start.bytes_within(stream, ends.size() + 1) == stream.size(),
          "what has begun is part of a packet");
}

void check_greeting(std::string_view stream, std::size_t size) {
  constexpr std::string_view address = "127.0.0.1:40001";
  testing::ElectionGreeting at_once{std::string{address}};
  testing::ElectionGreeting piecewise{std::string{address}};
  const std::string whole = at_once.edit(stream);
  std::string pieces;
  for_each_piece(stream, size, [&](std::string_view piece) { pieces += piecewise.edit(piece); });
  require(whole == pieces, "a greeting may come in any pieces");
  require(whole.empty() || whole == stream || whole.find(address) != whole.npos,
          "it passes as it is, or with the other address");
}

void check_numbers(std::string_view bytes) {
  const auto narrow = recipes_detail::from_big_endian<std::int32_t>(bytes);
  const auto wide = recipes_detail::from_big_endian<std::int64_t>(bytes);
  require(narrow.has_value() == (bytes.size() == 4) && wide.has_value() == (bytes.size() == 8),
          "a number has its size");
  if (narrow) require(recipes_detail::to_big_endian(*narrow) == bytes, "a number stays the same");
  if (wide) require(recipes_detail::to_big_endian(*wide) == bytes, "a number stays the same");
}

}  // namespace

void packets(std::string_view input) {
  if (input.empty()) return;
  const std::size_t size = std::max<std::size_t>(1, static_cast<unsigned char>(input.front()));
  input.remove_prefix(1);
  check_framing(input, size);
  check_greeting(input, size);
  check_numbers(input);
}

}  // namespace custodian::fuzz
