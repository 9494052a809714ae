#pragma once

/// \file
/// An error or a result, for authors of recipes.

#include <boost/system/result.hpp>

#include "custodian/error.hpp"

namespace custodian {

/// What a coroutine of a recipe returns: `co_return error;` or `co_return value;`.
template <typename T>
using Result = boost::system::result<T, error_code>;

}  // namespace custodian
