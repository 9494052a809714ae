#pragma once

/// \file
/// NamingProfile says with which other clients a lock is shared.

#include <cstdint>

namespace custodian {

/// The client library whose names the nodes of a lock bear. All locks of one path, those of other
/// clients included, must use the same names. This library recognises the names of both profiles.
enum class NamingProfile : std::uint8_t {
  /// Apache Curator's names, which the Go and Rust clients understand, too.
  curator,
  /// kazoo's names. Curator never recognises them: so a lock with this profile logs an error if it
  /// sees a Curator name in its queue. This profile is not needed for kazoo locks that are given
  /// Curator's names as `extra_lock_patterns`.
  kazoo,
};

}  // namespace custodian
