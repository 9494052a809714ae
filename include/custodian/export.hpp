#pragma once

/// \file
/// What the libraries show to those who link them.

#if __cplusplus < 202002L
#error \
    "Custodian needs C++20: compile with -std=c++20 (CMake: target_compile_features(... cxx_std_20))"
#endif

/// Stands at whatever is public and compiled, and at classes that are thrown or derived from, whose
/// type must be the same one on both sides. All else is hidden (-fvisibility=hidden). It means the
/// same to who builds a library and to who uses it, and does no harm in a static one: static and
/// shared libraries are made of the same objects.
#define CUSTODIAN_EXPORT [[gnu::visibility("default")]]
