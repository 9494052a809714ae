#pragma once

/// \file
/// UsageError is a mistake in the command line that CLI11 does not detect.

#include <stdexcept>

namespace custodian::cli {

/// The message says what is wrong and what to do; the exit status is 64.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace custodian::cli
