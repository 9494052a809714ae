#include "session/address_list.hpp"

#include <set>
#include <sstream>
#include <vector>

#include "support/catch.hpp"

namespace custodian::tests::address_list_test {

using custodian::detail::with_odd_length;

namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> all;
  std::istringstream text{list};
  for (std::string each; std::getline(text, each, ',');) all.push_back(each);
  return all;
}

std::string list_of(std::size_t length) {
  std::string list;
  for (std::size_t i = 0; i < length; ++i) {
    list += (i == 0 ? "" : ",") + std::string{"127.0.0."} + std::to_string(i + 1) + ":2181";
  }
  return list;
}

TEST_CASE("a list of an odd number of addresses stays as it is") {
  for (const std::size_t length : {1U, 3U, 5U, 7U}) {
    CHECK(with_odd_length(list_of(length), 2) == list_of(length));
  }
  CHECK(with_odd_length("", 0).empty());
}

TEST_CASE("two steps at a time visit each address of the list that the library is given") {
  for (std::size_t length = 1; length <= 9; ++length) {
    for (std::size_t repeated = 0; repeated < 10; ++repeated) {
      const auto addresses = split(with_odd_length(list_of(length), repeated));
      CAPTURE(length, repeated, addresses.size());
      std::set<std::string> visited;
      for (std::size_t step = 0; step < addresses.size(); ++step) {
        visited.insert(addresses[2 * step % addresses.size()]);
      }
      CHECK(visited.size() == length);
    }
  }
}

TEST_CASE("which address of an even number is repeated is the caller's choice") {
  CHECK(with_odd_length("a:1,b:2", 0) == "a:1,b:2,a:1");
  CHECK(with_odd_length("a:1,b:2", 1) == "a:1,b:2,b:2");
  CHECK(with_odd_length("a:1,b:2", 4'000'000'003) == "a:1,b:2,b:2");
}

}  // namespace

}  // namespace custodian::tests::address_list_test
