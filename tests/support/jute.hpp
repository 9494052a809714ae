// Builds frames as a server sends them, and malformed ones; and reads numbers from frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace custodian::tests {

/// Writes Jute, the encoding of ZooKeeper: numbers are big-endian, strings and buffers come after
/// their length.
class Jute {
 public:
  Jute& number(std::int32_t value) { return put(static_cast<std::uint32_t>(value), 4); }
  Jute& long_number(std::int64_t value) { return put(static_cast<std::uint64_t>(value), 8); }
  Jute& boolean(bool value) { return put(value ? 1 : 0, 1); }
  Jute& string(std::string_view value) {
    return number(static_cast<std::int32_t>(value.size())).raw(value);
  }
  Jute& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  Jute& stat() { return raw(std::string(68, '\0')); }
  /// Writes the header of a reply: the request's number, and an error.
  Jute& header(std::int32_t xid, std::int32_t error = 0) {
    return number(xid).long_number(0).number(error);
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  /// The bytes as a frame: their length, and then the bytes.
  [[nodiscard]] std::string frame() const { return Jute{}.string(bytes_).bytes(); }

 private:
  Jute& put(std::uint64_t value, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
      bytes_.push_back(static_cast<char>(value >> shift & 0xFFU));
    }
    return *this;
  }

  std::string bytes_;
};

/// The number that stands at a position of encoded bytes.
[[nodiscard]] inline std::int32_t number_at(std::string_view bytes, std::size_t position) {
  std::uint32_t value = 0;
  for (std::size_t i = position; i != position + 4; ++i) {
    value = value << 8U | static_cast<unsigned char>(bytes.at(i));
  }
  return static_cast<std::int32_t>(value);
}

/// The answer to a handshake; by default a correct one.
struct Greeting {
  std::int32_t timeout = 10'000;
  std::int64_t session = 0x1234;
  std::int32_t password_size = 16;
  bool read_only = false;

  [[nodiscard]] std::string frame() const {
    return Jute{}
        .number(0)
        .number(timeout)
        .long_number(session)
        .number(password_size)
        .raw(std::string(16, 'p'))
        .boolean(read_only)
        .frame();
  }
};

}  // namespace custodian::tests
