#pragma once

/// \file
/// Shortage is for suites that have shortage.cpp, which replaces the allocator of the whole
/// process.

#include <cstddef>

namespace custodian::tests {

/// While the object lives, allocations of this thread that are larger than `most_at_once` fail.
class Shortage {
 public:
  explicit Shortage(std::size_t most_at_once) noexcept;
  ~Shortage();
  Shortage(const Shortage&) = delete;
  Shortage& operator=(const Shortage&) = delete;
};

}  // namespace custodian::tests
