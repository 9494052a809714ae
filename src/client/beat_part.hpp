#pragma once

/// \file
/// BeatPart decides how much of a beat goes into one request. Pure.

#include <cstddef>

namespace custodian::detail {

/// One part of a beat: a multi of checks that is small enough for every server. Its size depends on
/// the nodes' paths, which users choose. A part that exceeds the servers' limit would cost the
/// connection at every beat, and so, in the end, every lease.
class BeatPart {
 public:
  /// Makes a part for servers that accept requests of up to this many bytes.
  explicit BeatPart(std::size_t max_request_size) : room_{max_request_size / share} {}

  /// Adds the check of a path of this many bytes; returns false if the part has no room for it. An
  /// empty part takes a check of any size, since a check cannot be divided.
  [[nodiscard]] bool add(std::size_t path_size);

  [[nodiscard]] std::size_t checks() const noexcept { return checks_; }

  /// The most checks in a part. A multi is one step of the servers' pipeline, so a read behind it
  /// waits for all its checks.
  static constexpr std::size_t most_checks = 500;
  /// A part takes the limit divided by this: a server may accept less than the client assumes,
  /// since the limit is set in two places (jute.maxbuffer and ClientOptions::max_request_size).
  static constexpr std::size_t share = 4;

 private:
  std::size_t room_;
  std::size_t checks_ = 0;
};

}  // namespace custodian::detail
