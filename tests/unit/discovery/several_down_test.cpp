// Several instances that are down at once.

#include <chrono>
#include <utility>

#include "down_instances.hpp"
#include "support/catch.hpp"

namespace custodian::tests::several_down_test {
namespace {

using discovery_detail::DownInstances;
using std::chrono::milliseconds;
using std::chrono::seconds;

const DownInstances::Time start{std::chrono::hours{1}};

TEST_CASE("down instances: the first of several to come back is the next", "[discovery]") {
  for (const auto& [first, second] : {std::pair{"1", "2"}, std::pair{"2", "1"}}) {
    DownInstances down{{.errors = 1, .time = seconds{1}}};
    down.note_error(first, start);
    down.note_error(second, start + milliseconds{500});
    CHECK(down.next_return(start + milliseconds{600}) == start + seconds{1});
    CHECK(down.next_return(start + seconds{1}) == start + milliseconds{1500});
  }
}

}  // namespace
}  // namespace custodian::tests::several_down_test
