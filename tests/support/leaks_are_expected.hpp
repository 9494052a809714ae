#pragma once

/// \file
/// LeaksAreExpected keeps the leak sanitizer quiet where a client's context is destroyed.

#include "support/sanitizers.hpp"

#ifdef CUSTODIAN_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

namespace custodian::tests {

/// A client whose context is gone is never freed, for its requests are never answered.
struct LeaksAreExpected {
#ifdef CUSTODIAN_ADDRESS_SANITIZER
  LeaksAreExpected() { __lsan_disable(); }
  ~LeaksAreExpected() { __lsan_enable(); }
#else
  LeaksAreExpected() {}
  ~LeaksAreExpected() {}
#endif
  LeaksAreExpected(const LeaksAreExpected&) = delete;
  LeaksAreExpected& operator=(const LeaksAreExpected&) = delete;
};

}  // namespace custodian::tests
