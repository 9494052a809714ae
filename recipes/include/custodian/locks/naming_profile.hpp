#pragma once

/// \file
/// NamingProfile says with which other clients a lock is shared.

#include <cstdint>

namespace custodian {

/// The client library whose names the nodes of a lock bear. All locks of one path, those of other
/// clients included, must use the same names. This library recognises the names of both.
enum class NamingProfile : std::uint8_t {
  /// Apache Curator's, which the Go and Rust clients understand, too.
  curator,
  /// kazoo's. Curator never recognises them: a lock with this profile logs an error if it sees a
  /// Curator name in its queue. A kazoo lock that is given Curator's names as `extra_lock_patterns`
  /// understands them; then this profile is not needed.
  kazoo,
};

}  // namespace custodian
