#pragma once

/// \file
/// acquired() says whether a try has acquired its lock, for tests that only ask: the lock is
/// released at once.

namespace custodian::tests {

[[nodiscard]] bool acquired(const auto& result) { return static_cast<bool>(result); }

}  // namespace custodian::tests
