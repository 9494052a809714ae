#pragma once

/// \file
/// Queue warnings are lines in the log about a queue's odd children.

#include <string_view>

#include "ordering/lock_spec.hpp"

namespace custodian::recipes_detail {

/// Warns of children that are no contenders, of sequence numbers near their end, and of other
/// clients that cannot see our nodes. Each warning is logged once for each lock object.
void report_oddities(const LockSpec& spec, const Listing& listing);
/// Logs a node without a readable number, and returns the error.
[[nodiscard]] error_code report_malformed(const LockSpec& spec, std::string_view name);

}  // namespace custodian::recipes_detail
