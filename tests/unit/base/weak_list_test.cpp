#include "base/weak_list.hpp"

#include <memory>

#include "support/catch.hpp"

namespace custodian::tests::weak_list_test {

using custodian::detail::WeakList;

TEST_CASE("of a hundred thousand that have gone a list keeps a handful", "[weak_list]") {
  WeakList<int> list;
  std::size_t most = 0;
  for (int i = 0; i != 100'000; ++i) {
    list.add(std::make_shared<int>(i));
    most = std::max(most, list.size());
  }
  CHECK(most <= 16);
}

TEST_CASE("what is there is kept in its order, and at most as much again that is not",
          "[weak_list]") {
  WeakList<int> list;
  std::vector<std::shared_ptr<int>> here;
  for (int i = 0; i != 1000; ++i) {
    here.push_back(std::make_shared<int>(i));
    list.add(here.back());
    list.add(std::make_shared<int>(-1));
  }
  CHECK(list.size() <= 2 * here.size() + 16);
  const auto& alive = list.alive();
  REQUIRE(alive.size() == here.size());
  for (std::size_t i = 0; i != here.size(); ++i) CHECK(alive[i].lock() == here[i]);
}

}  // namespace custodian::tests::weak_list_test
