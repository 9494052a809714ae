#pragma once

#include <string>
#include <string_view>

#include "custodian/error.hpp"
#include "support/catch.hpp"

/// Checks that `call` throws the error of a wrong argument, and that its message names `operation`
/// and ends with `detail`.
template <typename Call>
void check_refused(Call call, std::string_view operation, std::string_view detail) {
  try {
    static_cast<void>(call());
    FAIL_CHECK("accepted, although " << detail);
  } catch (const custodian::Error& error) {
    CHECK(error.code() == custodian::Errc::invalid_argument);
    CHECK(error.code() == custodian::ErrorCondition::caller_mistake);
    CHECK(error.operation() == operation);
    const std::string message{error.what()};
    CAPTURE(message, detail);
    CHECK(message.find("(" + std::string{detail} + ")") != std::string::npos);
  }
}
