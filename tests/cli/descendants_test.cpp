#include "guardian/descendants.hpp"

#include <unistd.h>

#include "support/catch.hpp"

namespace custodian::cli::descendants_test {

TEST_CASE("a process is told by its line in /proc, whatever its name is") {
  CHECK(parse_stat("17 (sh) S 4 17 17 0 -1") ==
        ProcessEntry{.process = 17, .parent = 4, .is_zombie = false});
  CHECK(parse_stat("18 (a) Z 9 (b) Z 5 18 18 0") ==
        ProcessEntry{.process = 18, .parent = 5, .is_zombie = true});
  CHECK_FALSE(parse_stat(""));
  CHECK_FALSE(parse_stat("17 (sh"));
  CHECK_FALSE(parse_stat("17 (sh) "));
}

TEST_CASE("a signal to nobody, to a zombie, or to who has ended is not forbidden") {
  CHECK(kill_each({}, 0) == Reached::all);
  constexpr pid_t beyond_all = 1 << 23;
  CHECK(kill_each({{getpid(), 1}, {1, 0, true}, {beyond_all, 1}}, 0) == Reached::all);
  CHECK(pause_after_killing(Reached::nobody) > pause_after_killing(Reached::some));
}

TEST_CASE("descendants are children, their children, and nobody else") {
  const std::vector<ProcessEntry> all{{1, 0}, {2, 1}, {5, 2}, {3, 5}, {4, 3}, {6, 1}, {7, 2}};
  std::vector<pid_t> found;
  for (const ProcessEntry& entry : descendants(2, all)) found.push_back(entry.process);
  CHECK(found == std::vector<pid_t>{5, 7, 3, 4});
  CHECK(descendants(4, all).empty());
}

}  // namespace custodian::cli::descendants_test
