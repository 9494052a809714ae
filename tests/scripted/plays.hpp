#pragma once

/// \file
/// Plays counts the plays of a test case, and reports the first failures.

#include <iostream>
#include <string>
#include <utility>

#include "support/catch.hpp"

namespace custodian::tests {

/// The plays of one scene, each with another fault. The destructor prints the number of plays.
class Plays {
 public:
  explicit Plays(std::string name) : name_{std::move(name)} {}
  Plays(const Plays&) = delete;
  Plays& operator=(const Plays&) = delete;
  ~Plays() { std::cout << "  " << count_ << " plays: " << name_ << '\n'; }

  /// Counts a play. A violation fails the test case, with a message that begins with the result of
  /// `describe()`; the twentieth violation ends the test case.
  template <typename Describe>
  void add(const std::string& violation, const Describe& describe) {
    ++count_;
    if (violation.empty()) return;
    FAIL_CHECK(describe() << ": " << violation);
    if (++failures_ == 20) FAIL("and so on");
  }

 private:
  const std::string name_;
  int count_ = 0;
  int failures_ = 0;
};

}  // namespace custodian::tests
