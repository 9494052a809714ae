#pragma once

/// \file
/// error_of() returns the error that a call throws.

#include "custodian/error.hpp"

namespace custodian::tests {

/// The code of the Error that a call throws; no error if it throws none.
template <typename Call>
[[nodiscard]] error_code error_of(Call call) {
  try {
    static_cast<void>(call());
    return {};
  } catch (const Error& error) {
    return error.code();
  }
}

}  // namespace custodian::tests
