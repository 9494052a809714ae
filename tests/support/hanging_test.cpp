// The CTest entry "watchdog" runs this.
#include <unistd.h>

#include "support/catch.hpp"

TEST_CASE("a case that hangs") {
  for (;;) pause();
}
