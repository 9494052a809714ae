#pragma once

/// \file
/// Replaces the system's getaddrinfo() in the whole process, the C client included: a definition in
/// the executable precedes the C library's.

#include <atomic>

namespace custodian::tests {

enum class Resolving {
  normally,
  failing,
  hanging,  ///< answers after thirty seconds
};

/// How names resolve; numeric addresses always resolve, as with the real function.
inline std::atomic<Resolving> resolving = Resolving::normally;
/// The number of names that were looked up.
inline std::atomic<int> lookups = 0;

}  // namespace custodian::tests
