#pragma once

/// \file
/// What the libraries show to those who link them.

/// Stands at whatever is public and compiled, and at classes that are thrown or derived from, whose
/// type must be the same one on both sides. All else is hidden (-fvisibility=hidden). It means the
/// same to who builds a library and to who uses it, and does no harm in a static one: static and
/// shared libraries are made of the same objects.
#define CUSTODIAN_EXPORT __attribute__((visibility("default")))
