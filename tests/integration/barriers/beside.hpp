#pragma once

/// \file
/// Clients beside that of a test, below the test's root.

#include <string>
#include <utility>

#include "support/test_client.hpp"

namespace custodian::tests {

/// Options for another client below the test's root.
[[nodiscard]] inline ClientOptions beside(const TestClient& client,
                                          std::string servers = connect_string()) {
  ClientOptions options = options_for(std::move(servers));
  options.name_space = client.root();
  return options;
}

}  // namespace custodian::tests
