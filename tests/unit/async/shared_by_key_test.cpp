#include "async/shared_by_key.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

namespace custodian::tests::shared_by_key_test {

using recipes_detail::SharedByKey;

namespace {

TEST_CASE("shared by key: all who ask while it is owned have the same object") {
  SharedByKey<std::string, int> all;
  int made = 0;
  const auto make = [&] { return std::make_shared<int>(++made); };
  const auto first = all.find_or_make("a", make);
  CHECK(all.find_or_make("a", make) == first);
  const auto other = all.find_or_make("b", make);
  CHECK(other != first);
  CHECK(made == 2);
}

TEST_CASE("shared by key: an object that nobody owns any more is made anew") {
  SharedByKey<std::string, int> all;
  int made = 0;
  const auto make = [&] { return std::make_shared<int>(++made); };
  static_cast<void>(all.find_or_make("a", make));
  CHECK(*all.find_or_make("a", make) == 2);
}

TEST_CASE("shared by key: keys whose objects are gone take no memory for ever") {
  SharedByKey<int, int> all;
  const auto make = [] { return std::make_shared<int>(); };
  std::vector<std::shared_ptr<int>> owned;
  for (int key = 0; key < 10'000; ++key) {
    const auto object = all.find_or_make(key, make);
    if (key % 100 == 0) owned.push_back(object);
  }
  CHECK(all.size() < 1'000);
  CHECK(all.all().size() == 100);
  for (int key = 0; key < 10'000; key += 100) {
    CHECK(all.find_or_make(key, make) == owned[static_cast<std::size_t>(key / 100)]);
  }
}

}  // namespace
}  // namespace custodian::tests::shared_by_key_test
