#include "atomics/update_chain.hpp"

#include "atomics/copy_trust.hpp"
#include "custodian/error.hpp"
#include "support/catch.hpp"

namespace custodian::tests::update_chain_test {
namespace {

using recipes_detail::CopyTrust;
using recipes_detail::Stored;
using recipes_detail::UpdateChain;
using Bytes = Versioned<std::string>;
using Time = std::chrono::system_clock::time_point;
using Next = Result<std::optional<std::string>>;

const Time early{std::chrono::seconds{7}};
const Time late{std::chrono::seconds{8}};
const Stored found{{"0", 7, 70}, early};
const Stored written{{"", 8, 80}, late};
const Next nothing = std::optional<std::string>{};

Next writes(const char* bytes) { return std::optional<std::string>{bytes}; }

TEST_CASE("a chain of one update is that update") {
  UpdateChain chain{found};
  CHECK_FALSE(chain.writes());
  chain.add(writes("1"));
  CHECK(chain.writes());
  CHECK(chain.now().value == "1");
  const auto results = chain.results(written);
  REQUIRE(results.size() == 1);
  CHECK(results[0]->before == found);
  CHECK(results[0]->after == Bytes{"1", 8, 80});
  CHECK(results[0]->written);
  CHECK(results[0]->time == late);
}

TEST_CASE("each update of a chain finds what the one before has left") {
  UpdateChain chain{found};
  for (const char* bytes : {"1", "2", "3"}) chain.add(writes(bytes));
  const auto results = chain.results(written);
  CHECK(results[0]->before == found);
  // No write on the servers has left these values, so no compare_exchange may match them.
  CHECK(results[0]->after == Bytes{"1", 0, 0});
  CHECK(results[1]->before == Bytes{"1", 0, 0});
  CHECK(results[1]->after == Bytes{"2", 0, 0});
  CHECK(results[2]->before == Bytes{"2", 0, 0});
  CHECK(results[2]->after == Bytes{"3", 8, 80});
}

TEST_CASE("an update of a chain that writes nothing, or fails, leaves the value to the next one") {
  UpdateChain chain{found};
  chain.add(nothing);
  chain.add(writes("1"));
  chain.add(Next{Errc::malformed_data});
  chain.add(writes("2"));
  chain.add(nothing);
  chain.add(Next{Errc::invalid_argument});
  CHECK(chain.now().value == "2");
  const auto results = chain.results(written);
  REQUIRE(results.size() == 6);
  CHECK(results[0]->before == found);
  CHECK(results[0]->after == found);
  CHECK_FALSE(results[0]->written);
  CHECK(results[1]->before == found);
  CHECK(results[2].error() == Errc::malformed_data);
  CHECK(results[3]->before == Bytes{"1", 0, 0});
  CHECK(results[4]->before == Bytes{"2", 8, 80});
  CHECK(results[4]->after == Bytes{"2", 8, 80});
  CHECK_FALSE(results[4]->written);
  CHECK(results[5].error() == Errc::invalid_argument);
}

TEST_CASE("a chain that writes nothing leaves what was found") {
  UpdateChain chain{found};
  chain.add(nothing);
  chain.add(Next{Errc::malformed_data});
  CHECK_FALSE(chain.writes());
  const auto results = chain.results({});
  CHECK(results[0]->after == found);
  CHECK(results[0]->time == early);
  CHECK(results[1].error() == Errc::malformed_data);
}

TEST_CASE("a copy is left again after as many updates as it was refused in a row") {
  CopyTrust trust;
  const auto left_out = [&] {
    int updates = 0;
    while (!trust.leaves_copy()) ++updates;
    return updates;
  };
  CHECK(left_out() == 0);
  for (const int expected : {1, 3, 7, 15, 31, 31}) {
    trust.note_refused();
    CHECK(left_out() == expected);
  }
  trust.note_held();
  trust.note_refused();
  CHECK(left_out() == 1);
}

}  // namespace
}  // namespace custodian::tests::update_chain_test
