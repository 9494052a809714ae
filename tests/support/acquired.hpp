#pragma once

/// \file
/// acquired() says whether a try has acquired its lock, and releases the lock at once: for tests
/// that only ask.

namespace custodian::tests {

[[nodiscard]] bool acquired(const auto& result) { return static_cast<bool>(result); }

}  // namespace custodian::tests
