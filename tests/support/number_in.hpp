#pragma once

/// \file
/// Some tests are short, and may be longer: by a number in a variable of the environment.

#include <cstdlib>

namespace custodian::tests {

/// The number in the variable, or another one if it is not set.
[[nodiscard]] inline int number_in(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

}  // namespace custodian::tests
