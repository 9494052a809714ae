#pragma once

/// \file
/// The commands of our driver for distributed atomics; driver.hpp says what they do.

#include <istream>
#include <string>

#include "custodian/client.hpp"

namespace custodian::tests {

void add(const Client& client, std::istream& words);
[[nodiscard]] std::string tally(const Client& client, std::istream& words);

}  // namespace custodian::tests
