#pragma once

/// \file
/// is_watching() returns whether a client's watches are armed.

#include <cstddef>

#include "custodian/client.hpp"

namespace custodian::tests {

/// Whether the client has no request under way, and `watches` watches that its server has armed. A
/// watch whose request is under way does not count yet: a change before the server reads that
/// request would go unnoticed.
[[nodiscard]] inline bool is_watching(const Client& client, std::size_t watches = 1) {
  const auto load = client.load();
  return load.operations == 0 && load.watches == watches;
}

}  // namespace custodian::tests
