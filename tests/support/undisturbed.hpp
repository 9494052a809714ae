#pragma once

/// \file
/// Blocking calls of tests that end by their time, on a machine that stands still at times.

#include <string_view>
#include <type_traits>

#include "custodian/error.hpp"
#include "custodian/locks/acquire.hpp"

namespace custodian::tests {

/// The result of a call that ends by its time. If the client's thread did not run for a tenth of a
/// second after that time, the call does not know why it has waited: it is made again.
template <typename Function>
auto undisturbed(Function function) {
  for (int i = 0;; ++i) {
    try {
      if constexpr (std::is_void_v<decltype(function())>) {
        return function();
      } else {
        auto call = function();
        if (i == 10 || call.reason != NotAcquired::context_not_run) return call;
      }
    } catch (const Error& error) {
      const std::string_view what = error.what();
      if (i == 10 || what.find("no thread runs the client's context") == what.npos) throw;
    }
  }
}

}  // namespace custodian::tests
