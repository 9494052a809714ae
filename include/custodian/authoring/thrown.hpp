#pragma once

/// \file
/// thrown_now() turns an exception into an error code and a text, for authors of recipes that call
/// user code.

#include <string>

#include "custodian/error.hpp"
#include "custodian/export.hpp"

namespace custodian {

/// An exception as an error code and a text. A value type.
struct Thrown {
  /// The code of a `system_error`; `not_enough_memory` for a `bad_alloc`; `state_not_recoverable`
  /// for every other exception.
  error_code error;
  std::string text;  ///< the exception's message, for the log
};

/// Describes the exception that is being handled. Call it in a catch block, and nowhere else:
/// without an exception, the process ends (`std::terminate`). Any thread. Throws `std::bad_alloc`.
[[nodiscard]] CUSTODIAN_EXPORT Thrown thrown_now();

}  // namespace custodian
