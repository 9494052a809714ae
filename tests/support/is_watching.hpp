#pragma once

/// \file
/// is_watching() tells when a client's watches stand.

#include <cstddef>

#include "custodian/client.hpp"

namespace custodian::tests {

/// Whether the client waits for nothing but so many watches, which its server has armed. A watch
/// whose request is under way does not count yet: what happens before the server reads it goes
/// unnoticed.
[[nodiscard]] inline bool is_watching(const Client& client, std::size_t watches = 1) {
  const auto load = client.load();
  return load.operations == 0 && load.watches == watches;
}

}  // namespace custodian::tests
