#pragma once

/// \file
/// LeaksAreExpected keeps the leak sanitizer quiet where a client's context is destroyed.

#include "support/sanitizers.hpp"

#ifdef CUSTODIAN_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

namespace custodian::tests {

/// Use it where a client's context is destroyed before the client: that client is never freed,
/// because the handlers of its requests never run.
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
