#include "shared/newest_value.hpp"

#include "support/catch.hpp"

namespace custodian::recipes_detail::newest_value_test {
namespace {

TEST_CASE("within a session a later write alone is news") {
  CHECK(is_news({}, {5, 1}));
  CHECK(is_news({5, 1}, {6, 1}));
  CHECK_FALSE(is_news({5, 1}, {5, 1}));
  CHECK_FALSE(is_news({5, 1}, {4, 1}));
}

TEST_CASE("after a lost session any other write is news, for servers may have been restored") {
  CHECK(is_news({5, 1}, {6, 2}));
  CHECK(is_news({5, 1}, {4, 2}));
  CHECK_FALSE(is_news({5, 1}, {5, 2}));
}

TEST_CASE("to those who know of no session a later write alone is news") {
  CHECK(is_news({5}, {6, 1}));
  CHECK_FALSE(is_news({5}, {5, 1}));
  CHECK_FALSE(is_news({5}, {4, 1}));
}

TEST_CASE("the newest value is kept, and no older one instead") {
  NewestValue newest;
  CHECK_FALSE(newest.get());
  newest.note({{5, 1}, 0, "five"});
  CHECK(newest.get()->bytes == "five");
  newest.note({{4, 1}, 9, "four"});
  CHECK(newest.get()->bytes == "five");
  newest.note({{6, 1}, 1, "six"});
  CHECK(newest.get()->bytes == "six");
  CHECK(newest.get()->version == 1);
  newest.note({{2, 2}, 0, "two"});
  CHECK(newest.get()->bytes == "two");
}

}  // namespace
}  // namespace custodian::recipes_detail::newest_value_test
