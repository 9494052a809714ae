#pragma once

/// \file
/// acquired() returns whether a try has acquired its lock, and so releases the lock at once: its
/// argument is a temporary. For tests that need only the answer.

namespace custodian::tests {

[[nodiscard]] bool acquired(const auto& result) { return static_cast<bool>(result); }

}  // namespace custodian::tests
