#pragma once

/// \file
/// What people should know of a queue whose children are not as they should be.

#include <string_view>

#include "ordering/lock_spec.hpp"

namespace custodian::recipes_detail {

/// Warns of children that are no contenders, of numbers that come to their end, and of other
/// clients that cannot see ours. Each in the log, once a lock object.
void report_oddities(const LockSpec& spec, const Listing& listing);
/// The same of a node whose number nobody can tell; gives the error.
[[nodiscard]] error_code report_malformed(const LockSpec& spec, std::string_view name);

}  // namespace custodian::recipes_detail
