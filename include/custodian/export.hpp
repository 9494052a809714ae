#pragma once

/// \file
/// CUSTODIAN_EXPORT marks what the libraries export.

#if __cplusplus < 202002L
#error \
    "Custodian needs C++20: compile with -std=c++20 (CMake: target_compile_features(... cxx_std_20))"
#endif

/// It marks public compiled functions, and classes that are thrown or derived from, whose type must
/// be the same one on both sides. All else is hidden (-fvisibility=hidden). It is the same in the
/// library and in its users, and does no harm in a static one: static and shared libraries are made
/// of the same objects.
#define CUSTODIAN_EXPORT [[gnu::visibility("default")]]
