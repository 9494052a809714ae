#pragma once

/// \file
/// JuteReader walks over a frame in Jute, ZooKeeper's encoding (numbers big-endian, strings and
/// buffers after their length), without keeping anything of it. Pure.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace custodian::detail {

/// The reader gets the beginning of a frame, or all of it, and the frame's length. Once a step has
/// failed, or has led beyond the bytes that the reader has, further steps do nothing.
class JuteReader {
 public:
  enum class State {
    good,
    unseen,  ///< the next part is beyond the bytes: nothing is known about it
    wrong    ///< the next part is not in the frame, or cannot be
  };

  JuteReader(std::string_view shown, std::size_t frame) : shown_{shown}, frame_{frame} {}

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] bool good() const noexcept { return state_ == State::good; }

  void skip(std::size_t bytes) {
    if (!good()) return;
    if (bytes > frame_ - at_) {
      state_ = State::wrong;
    } else {
      at_ += bytes;
    }
  }

  [[nodiscard]] std::int32_t number() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8U | byte();
    return good() ? static_cast<std::int32_t>(value) : 0;
  }

  [[nodiscard]] std::int64_t long_number() {
    const auto high = static_cast<std::uint32_t>(number());
    const auto low = static_cast<std::uint32_t>(number());
    return good() ? static_cast<std::int64_t>(std::uint64_t{high} << 32U | low) : 0;
  }

  [[nodiscard]] bool boolean() { return byte() != 0; }

  void string() {
    const std::int32_t length = number();
    if (length < 0) return fail();
    skip(static_cast<std::size_t>(length));
  }

  /// Unlike a string, a buffer may be absent, with the length -1.
  void buffer() {
    const std::int32_t length = number();
    if (length < -1) return fail();
    if (length > 0) skip(static_cast<std::size_t>(length));
  }

  /// The number of elements of a vector, each of which takes at least `least` bytes. Fails if the
  /// frame cannot hold them.
  [[nodiscard]] std::int32_t count(std::size_t least) {
    const std::int32_t elements = number();
    if (elements < 0 || static_cast<std::size_t>(elements) > (frame_ - at_) / least) fail();
    return good() ? elements : 0;
  }

  void fail() noexcept {
    if (good()) state_ = State::wrong;
  }

 private:
  std::uint8_t byte() {
    if (!good()) return 0;
    if (at_ == frame_) {
      state_ = State::wrong;
    } else if (at_ >= shown_.size()) {
      state_ = State::unseen;
    } else {
      return static_cast<std::uint8_t>(shown_[at_++]);
    }
    return 0;
  }

  std::string_view shown_;
  std::size_t frame_;
  std::size_t at_ = 0;
  State state_ = State::good;
};

}  // namespace custodian::detail
