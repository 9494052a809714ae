#include "cluster/election_greeting.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace custodian::testing {
namespace {

// The header of a greeting, big-endian: 8 bytes for the version, 8 for the server's number, 4 for
// the length of the address that follows.
constexpr std::size_t header_size = 20;
constexpr std::size_t length_at = 16;
// ZooKeeper's limit (QuorumCnxManager.maxBuffer).
constexpr std::uint32_t longest_address = 2048;

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (const char each : bytes.substr(at, size)) {
    number = number << 8 | static_cast<unsigned char>(each);
  }
  return number;
}

// QuorumCnxManager.PROTOCOL_VERSION_V1 and V2, which differ in how many addresses they allow.
bool is_known_version(std::uint64_t version) {
  const auto value = static_cast<std::int64_t>(version);
  return value == -65536 || value == -65535;
}

}  // namespace

ElectionGreeting::ElectionGreeting(std::string address) : address_{std::move(address)} {}

std::string ElectionGreeting::edit(std::string_view bytes) {
  if (done_) return std::string{bytes};
  begun_ += bytes;
  if (begun_.size() < header_size) return {};
  const auto length = number_at(begun_, length_at, 4);
  if (is_known_version(number_at(begun_, 0, 8)) && length <= longest_address) {
    if (begun_.size() < header_size + length) return {};
    std::string size(4, '\0');
    size[2] = static_cast<char>(address_.size() >> 8);
    size[3] = static_cast<char>(address_.size() & 0xff);
    begun_.replace(length_at, 4 + length, size + address_);
  }
  done_ = true;
  return std::exchange(begun_, {});
}

}  // namespace custodian::testing
