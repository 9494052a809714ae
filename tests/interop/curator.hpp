#pragma once

/// \file
/// Common parts of the tests with Apache Curator.

#include "driver.hpp"
#include "support/test_servers.hpp"

/// Skips a test that needs Curator; its first line.
#define CUSTODIAN_REQUIRES_CURATOR() \
  CUSTODIAN_REQUIRES_OWN_SERVER();   \
  if (!has_curator())                \
  CUSTODIAN_SKIP("needs Apache Curator and javac: tools/setup installs them, then build")
