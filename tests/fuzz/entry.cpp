/// \file
/// libFuzzer's entry to one target, which the build names. A broken promise is an uncaught
/// exception: libFuzzer keeps the input and reports the exception.

#include <cstddef>
#include <cstdint>

#include "targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  custodian::fuzz::CUSTODIAN_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
