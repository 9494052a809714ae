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

/// The contenders that hold, or may hold, so that a command can ask them to release. The holder of
/// a permit counts; a contender at a semaphore's turnstile does not.
[[nodiscard]] std::vector<Inspected> holders_of(const Inspection& inspection);

/// Finds the contender by its node: the whole path, or the name below `path` as `inspect` shows it.
/// Nothing if no contender has that node: only contenders' nodes may be deleted.
[[nodiscard]] std::optional<Inspected> find_contender(const Inspection& inspection,
                                                      const std::string& path,
                                                      std::string_view node);

/// Parses a session's id as inspect shows it, "0x100000a3f2b0001". Throws UsageError.
[[nodiscard]] std::int64_t parse_session(std::string_view text);

/// The contenders that hold once `gone` has left; empty if `gone` does not hold, or no contender
/// waits for it alone.
[[nodiscard]] std::vector<Inspected> heirs_of(const Inspection& inspection, const Inspected& gone);

}  // namespace custodian::cli
