#pragma once

/// \file
/// The contender's choice finds the contender that a command asks to release, or whose node it
/// deletes. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/inspect/inspect.hpp"

namespace custodian::cli {

/// The contenders that hold, or may, and so can be asked. Permits are held; a place at the
/// turnstile is not.
[[nodiscard]] std::vector<Inspected> holders_of(const Inspection& inspection);

/// The contender whose node this is, by its whole path or by its name below `path` as `inspect`
/// shows it. Nothing if it is none: only contenders' nodes may be deleted.
[[nodiscard]] std::optional<Inspected> find_contender(const Inspection& inspection,
                                                      const std::string& path,
                                                      std::string_view node);

/// A session's id as inspect shows it, "0x100000a3f2b0001". Throws UsageError.
[[nodiscard]] std::int64_t parse_session(std::string_view text);

/// The contender that holds when this one has gone; nothing if this one does not hold, or none
/// waits for it alone.
[[nodiscard]] std::vector<Inspected> heirs_of(const Inspection& inspection, const Inspected& gone);

}  // namespace custodian::cli
