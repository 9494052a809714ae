// Catch2, whichever is installed: 2.13 (Debian 12) or 3.x.
//
// Threads: the assertions of Catch2 2 are not thread-safe. A test that starts threads lets them
// collect values and asserts on the test's own thread after joining them.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#define CUSTODIAN_CATCH_MAJOR 3
using Catch::Approx;  // as in Catch2 2
#else
#include <catch2/catch.hpp>
#define CUSTODIAN_CATCH_MAJOR 2
#endif
