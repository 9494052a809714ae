#pragma once

/// \file
/// Detects which sanitizer is used: g++ shows it by a macro, clang by a feature.

#ifdef __has_feature
#define CUSTODIAN_HAS_FEATURE(feature) __has_feature(feature)
#else
#define CUSTODIAN_HAS_FEATURE(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || CUSTODIAN_HAS_FEATURE(address_sanitizer)
#define CUSTODIAN_ADDRESS_SANITIZER
#endif
#if defined(__SANITIZE_THREAD__) || CUSTODIAN_HAS_FEATURE(thread_sanitizer)
#define CUSTODIAN_THREAD_SANITIZER
#endif
