#pragma once

/// \file
/// CUSTODIAN_EXPORT marks what the libraries export.

#if __cplusplus < 202002L
#error \
    "Custodian needs C++20: compile with -std=c++20 (CMake: target_compile_features(... cxx_std_20))"
#endif

/// Marks public compiled functions, and classes that are thrown or derived from: such a class must
/// be one type in the library and in its users. All other symbols are hidden (-fvisibility=hidden).
/// The macro has the same value in the library and in its users. The macro does no harm in a static
/// library: static and shared libraries are made of the same objects.
#define CUSTODIAN_EXPORT [[gnu::visibility("default")]]
