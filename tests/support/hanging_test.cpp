// Run by the CTest entry "watchdog".
#include <unistd.h>

#include "support/catch.hpp"

TEST_CASE("a case that hangs") {
  for (;;) pause();
}
