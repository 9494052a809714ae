#pragma once

/// \file
/// make_uuid() makes unique names, for authors of recipes.

#include <string>

#include "custodian/export.hpp"

namespace custodian {

/// A random uuid (version 4), 36 characters in lower case. Safe to call from any thread and after a
/// fork: the function keeps no state, so that parent and child cannot draw the same uuid. Throws
/// `boost::uuids::entropy_error` if the system has no random bytes to give.
[[nodiscard]] CUSTODIAN_EXPORT std::string make_uuid();

}  // namespace custodian
