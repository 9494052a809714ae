#pragma once

/// \file
/// Takes the place of the system's getaddrinfo() in the whole process, the C client included: a
/// definition in the executable comes before the C library's.

#include <atomic>

namespace custodian::tests {

enum class Resolving {
  normally,
  failing,
  hanging,  ///< thirty seconds, then an answer
};

/// What it does with names; numeric addresses resolve at all times, as they do with the real one.
inline std::atomic<Resolving> resolving = Resolving::normally;
/// How often it was asked for a name.
inline std::atomic<int> lookups = 0;

}  // namespace custodian::tests
