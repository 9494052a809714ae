#include "ordering/lock_paths.hpp"

#include "support/catch.hpp"

namespace custodian::recipes_detail::lock_paths_test {
namespace {

TEST_CASE("no lock is at the root, nor where ZooKeeper keeps its own nodes", "[paths]") {
  CHECK(objection_to_path("/").find("a node of its own") != std::string_view::npos);
  CHECK(objection_to_path("/zookeeper").find("/zookeeper") != std::string_view::npos);
  CHECK_FALSE(objection_to_path("/zookeeper/config").empty());
}

TEST_CASE("a lock is at any other path, whatever it begins with", "[paths]") {
  CHECK(objection_to_path("/a").empty());
  CHECK(objection_to_path("/zookeepers/lock").empty());
  CHECK(objection_to_path("/a/zookeeper").empty());
}

}  // namespace
}  // namespace custodian::recipes_detail::lock_paths_test
