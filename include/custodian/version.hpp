#pragma once

/// \file
/// version() says which version of this library a program runs with.

#include <string_view>

#include "custodian/export.hpp"
namespace custodian {

/// The version of the library that the program runs with, such as "0.1.0".
CUSTODIAN_EXPORT std::string_view version() noexcept;

}  // namespace custodian
