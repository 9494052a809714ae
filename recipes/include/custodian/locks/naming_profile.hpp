#pragma once

/// \file
/// NamingProfile says with which other clients a lock is shared.

#include <cstdint>

namespace custodian {

/// The client whose names the nodes of a lock bear. All locks of one path must bear the same ones,
/// other clients' included; a judgement recognises names of both kinds.
enum class NamingProfile : std::uint8_t {
  /// Apache Curator's, which the Go and Rust clients understand, too.
  curator,
  /// kazoo's. Curator never recognises them: a lock that sees a Curator name beside its own logs
  /// an error. A kazoo lock understands Curator's names if it is given them as
  /// `extra_lock_patterns`; then this profile is not needed.
  kazoo,
};

}  // namespace custodian
