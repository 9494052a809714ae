#pragma once

/// \file
/// Clients of shared values below one root.

#include <cstdint>
#include <string>
#include <utility>

#include "custodian/shared/shared_count.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::shared_values {

using Count = Versioned<std::int32_t>;

/// The options of another client below the test's root.
[[nodiscard]] inline ClientOptions beside(const TestClient& client,
                                          std::string servers = connect_string()) {
  ClientOptions options = options_for(std::move(servers));
  options.name_space = client.root();
  return options;
}

}  // namespace custodian::tests::shared_values
