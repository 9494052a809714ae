/// \file
/// The door of libFuzzer to one target, which the build names. A broken promise is an exception
/// that nobody catches: libFuzzer keeps the input and says what was thrown.

#include <cstddef>
#include <cstdint>

#include "targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  custodian::fuzz::CUSTODIAN_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
