#pragma once

/// \file
/// BeatPart decides how much of a beat goes into one request. Pure.

#include <cstddef>

namespace custodian::detail {

/// One part of a beat: a multi of checks, of a size that servers certainly accept. The paths of the
/// nodes decide about its size, and users choose those; a part that exceeds what the servers accept
/// would cost the connection at every beat, and so, in the end, every lease.
class BeatPart {
 public:
  /// For servers that accept requests of so many bytes.
  explicit BeatPart(std::size_t max_request_size) : room_{max_request_size / share} {}

  /// Adds the check of a path of so many bytes, if the part has room for it: an empty one always
  /// has, for a larger check can only go alone.
  [[nodiscard]] bool add(std::size_t path_size);

  [[nodiscard]] std::size_t checks() const noexcept { return checks_; }

  /// A multi is one step of the servers' pipeline: a read behind it waits until all is checked.
  static constexpr std::size_t most_checks = 500;
  /// A server may accept less than the client believes, for their operators set it in two places.
  static constexpr std::size_t share = 4;

 private:
  std::size_t room_;
  std::size_t checks_ = 0;
};

}  // namespace custodian::detail
