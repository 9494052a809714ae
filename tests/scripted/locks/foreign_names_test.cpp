/// \file
/// Node names that other clients chose, in our log and in our errors.

#include <algorithm>
#include <string>
#include <vector>

#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::foreign_names_test {
namespace {

using namespace std::string_literals;

const std::string hostile =
    "see \u202egpj.ton\u2066 \xc2\x9b"
    "2J \x1b]0;title\x07 line\nerror: forged";
const std::string shown =
    "see \\u{202e}gpj.ton\\u{2066} \\u{9b}2J \\x1b]0;title\\x07 line\\nerror: forged";

bool has_raw_parts(const std::string& line) {
  const bool has_control = std::ranges::any_of(line, [](char c) { return c >= 0 && c < ' '; });
  return has_control || line.find("\u202e") != std::string::npos ||
         line.find("\u2066") != std::string::npos || line.find("\xc2\x9b") != std::string::npos;
}

}  // namespace

TEST_CASE("a name that others have chosen is a part of one printable line of the log",
          "[foreign-names]") {
  for (const std::string& kind : {"/"s, "/lock-"s}) {
    World world;
    std::vector<std::string> lines;
    ClientOptions options = world.options("mine");
    options.log = [&lines](LogLevel /*level*/, std::string_view message) {
      lines.emplace_back(message);
    };
    world.make("/lock");
    // The first kind is no contender's name; the second looks like one, but has no number.
    world.make("/lock" + kind + hostile);
    auto client = world.client(options);
    {
      InterProcessMutex mutex{*client, "/lock"};
      const auto acquired = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
      REQUIRE(acquired.arrived());
      REQUIRE(world.run_until([&] {
        return std::ranges::any_of(
            lines, [](const std::string& line) { return line.find(shown) != std::string::npos; });
      }));
    }
    for (const std::string& line : lines) CHECK_FALSE(has_raw_parts(line));
    CHECK(world.end(client));
  }
}

TEST_CASE("what is odd in a queue is logged once for each lock: a stranger, numbers near their end",
          "[foreign-names]") {
  const std::string near_the_end = "/lock/_c_11112222-3333-4444-5555-666677778888-lock-2146435072";
  for (const auto& [child, said] :
       {std::pair{"/lock/stranger"s, "has a child that is no contender"s},
        std::pair{near_the_end, "comes near the end of its sequence numbers"s}}) {
    INFO(child);
    World world;
    std::vector<std::string> lines;
    ClientOptions options = world.options("mine");
    options.log = [&lines](LogLevel /*level*/, std::string_view message) {
      lines.emplace_back(message);
    };
    const auto times_said = [&lines, &said = said] {
      return std::ranges::count_if(
          lines, [&](const std::string& line) { return line.find(said) != std::string::npos; });
    };
    world.make("/lock");
    auto client = world.client(options);
    {
      InterProcessMutex mutex{*client, "/lock"};
      const auto acquire_and_release = [&] {
        auto acquired = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
        REQUIRE_FALSE(acquired.error());
        acquired.result().release();
        REQUIRE(world.run_until_idle(*client));
      };
      acquire_and_release();
      CHECK(times_said() == 0);
      world.make(child);
      for (int i = 0; i < 2; ++i) {
        acquire_and_release();
        CHECK(times_said() == 1);
      }
    }
    CHECK(world.end(client));
  }
}

}  // namespace custodian::tests::foreign_names_test
