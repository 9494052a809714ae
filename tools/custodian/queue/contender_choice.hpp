#pragma once

/// \file
/// Whom a command means that asks somebody to let go, or takes a place away. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/inspect/inspect.hpp"

namespace custodian::cli {

/// Those who hold, or may: who can be asked. Permits are held; a turn is not.
[[nodiscard]] std::vector<Inspected> holders_of(const Inspection& inspection);

/// The contender whose node this is, by its whole path or by its name below `path` as `inspect`
/// shows it. Nothing if it is none: a node that is no contender's is nobody's to touch.
[[nodiscard]] std::optional<Inspected> find_contender(const Inspection& inspection,
                                                      const std::string& path,
                                                      std::string_view node);

/// A session's id as inspect shows it, "0x100000a3f2b0001". Throws UsageError.
[[nodiscard]] std::int64_t parse_session(std::string_view text);

/// Who is next when this one has gone, and would hold then; nobody if it does not hold, or nobody
/// waits for it alone.
[[nodiscard]] std::vector<Inspected> heirs_of(const Inspection& inspection, const Inspected& gone);

}  // namespace custodian::cli
