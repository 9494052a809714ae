#pragma once

/// \file
/// Result is an error or a value, for authors of recipes.

#include <boost/system/result.hpp>

#include "custodian/error.hpp"

namespace custodian {

/// The result of a recipe's coroutine: `co_return error;` or `co_return value;`. A coroutine
/// without a value has Result<void>: `co_return error;` or `co_return Result<void>{};`.
template <typename T>
using Result = boost::system::result<T, error_code>;

/// Makes the result of an error: write `co_return failed<T>(error);` where T is a number or a bool.
/// There `co_return error;` does not compile, since the error could be taken for the value.
template <typename T>
[[nodiscard]] Result<T> failed(error_code error) {
  return Result<T>{boost::system::in_place_error, error};
}

}  // namespace custodian
