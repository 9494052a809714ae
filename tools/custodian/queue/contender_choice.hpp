#pragma once

/// \file
/// These functions choose the contender that a command asks to release, or whose node it deletes.
/// Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/inspect/inspect.hpp"

namespace custodian::cli {

/// The contenders that a command can ask to release: those that hold, or may hold. The holder of a
/// permit is one; a contender at a semaphore's turnstile is not.
[[nodiscard]] std::vector<Inspected> holders_of(const Inspection& inspection);

/// Finds the contender by its node, which is given as a whole path, or as the name below `path`
/// that `inspect` shows. Nothing if no contender has that node: only contenders' nodes may be
/// deleted.
[[nodiscard]] std::optional<Inspected> find_contender(const Inspection& inspection,
                                                      const std::string& path,
                                                      std::string_view node);

/// Parses a session's id as inspect shows it, "0x100000a3f2b0001". Throws UsageError.
[[nodiscard]] std::int64_t parse_session(std::string_view text);

/// The contenders that become holders when `gone` leaves; empty if `gone` does not hold, or if its
/// leaving alone lets no contender hold. Always empty at a semaphore.
[[nodiscard]] std::vector<Inspected> heirs_of(const Inspection& inspection, const Inspected& gone);

}  // namespace custodian::cli
