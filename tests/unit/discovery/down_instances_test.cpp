#include "down_instances.hpp"

#include <utility>

#include "support/catch.hpp"

namespace custodian::tests::down_instances_test {
namespace {

using discovery_detail::DownInstances;
using std::chrono::milliseconds;
using std::chrono::seconds;

const DownInstances::Time start{std::chrono::hours{1}};

TEST_CASE("down instances: one error of another instance changes nothing", "[discovery]") {
  DownInstances down{{.errors = 1, .time = seconds{1}}};
  CHECK_FALSE(down.is_down("1", start));
  down.note_error("1", start);
  CHECK(down.is_down("1", start));
  CHECK_FALSE(down.is_down("2", start));
}

TEST_CASE("down instances: an instance is down from the given number of errors on", "[discovery]") {
  DownInstances down{{.errors = 2, .time = seconds{1}}};
  down.note_error("1", start);
  CHECK_FALSE(down.is_down("1", start));
  CHECK_FALSE(down.next_return(start));
  down.note_error("1", start + milliseconds{999});
  CHECK(down.is_down("1", start + milliseconds{999}));
}

TEST_CASE("down instances: the time begins with the first error", "[discovery]") {
  DownInstances down{{.errors = 2, .time = seconds{1}}};
  down.note_error("1", start);
  down.note_error("1", start + milliseconds{500});
  down.note_error("2", start + milliseconds{500});
  CHECK(down.is_down("1", start + milliseconds{999}));
  CHECK(down.next_return(start + milliseconds{999}) == start + seconds{1});
  CHECK_FALSE(down.is_down("1", start + seconds{1}));
  CHECK_FALSE(down.next_return(start + seconds{1}));
  // The next error counts as the first one again.
  down.note_error("1", start + seconds{1});
  CHECK_FALSE(down.is_down("1", start + seconds{1}));
}

TEST_CASE("down instances: the instance that returns first is named", "[discovery]") {
  for (const auto& [first, second] : {std::pair{"1", "2"}, std::pair{"2", "1"}}) {
    DownInstances down{{.errors = 1, .time = seconds{1}}};
    down.note_error(first, start);
    down.note_error(second, start + milliseconds{500});
    CHECK(down.next_return(start + milliseconds{600}) == start + seconds{1});
    CHECK(down.next_return(start + seconds{1}) == start + milliseconds{1500});
  }
}

TEST_CASE("down instances: what is over is forgotten", "[discovery]") {
  DownInstances down{{.errors = 2, .time = seconds{1}}};
  for (int i = 0; i < 1000; ++i) {
    down.note_error(std::to_string(i), start + i * milliseconds{10});
  }
  CHECK(down.size() == 100);
}

}  // namespace
}  // namespace custodian::tests::down_instances_test
