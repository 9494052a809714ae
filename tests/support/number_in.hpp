#pragma once

/// \file
/// number_in() reads a number from the environment, by which some tests can be made longer.

#include <cstdlib>

namespace custodian::tests {

/// The number in the variable; `otherwise` if the variable is not set.
[[nodiscard]] inline int number_in(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

}  // namespace custodian::tests
