#include "client/protected_nodes.hpp"

#include "support/catch.hpp"

namespace custodian::tests::protected_nodes_test {
namespace {

using detail::choose;
using detail::protected_nodes;
using detail::SeenNode;

SeenNode seen(std::string path, bool ours) { return {std::move(path), Reply{}, ours}; }

SeenNode unseen(std::string path, error_code error) {
  SeenNode node{std::move(path), Reply{}, false};
  node.look.error = error;
  return node;
}

TEST_CASE("the nodes of a create are those with its protection, lowest first") {
  CHECK(
      protected_nodes({"_c_b-lock-1", "_c_a-lock-3", "other", "_c_a-lock-2"}, "/locks", "_c_a-") ==
      std::vector<std::string>{"/locks/_c_a-lock-2", "/locks/_c_a-lock-3"});
  CHECK(protected_nodes({"_c_b-lock-1"}, "/locks", "_c_a-").empty());
}

TEST_CASE("the nodes below the root have no second slash") {
  CHECK(protected_nodes({"_c_a-lock-1"}, "/", "_c_a-") == std::vector<std::string>{"/_c_a-lock-1"});
}

TEST_CASE("without a node nothing is kept") {
  const auto choice = choose({});
  CHECK_FALSE(choice.kept);
  CHECK(choice.surplus.empty());
}

TEST_CASE("the lowest of ours is kept, and the others are surplus") {
  const auto choice = choose({seen("/l/1", true), seen("/l/2", true), seen("/l/3", true)});
  REQUIRE(choice.kept);
  CHECK(choice.kept->path == "/l/1");
  REQUIRE(choice.surplus.size() == 2);
  CHECK(choice.surplus[0].path == "/l/2");
  CHECK(choice.surplus[1].path == "/l/3");
}

TEST_CASE("a node of an earlier session is surplus, and does not stand for ours") {
  const auto choice = choose({seen("/l/1", false), seen("/l/2", true)});
  REQUIRE(choice.kept);
  CHECK(choice.kept->path == "/l/2");
  REQUIRE(choice.surplus.size() == 1);
  CHECK(choice.surplus[0].path == "/l/1");
}

TEST_CASE("of earlier sessions alone nothing is kept, and all is surplus") {
  const auto choice = choose({seen("/l/1", false), seen("/l/2", false)});
  CHECK_FALSE(choice.kept);
  CHECK(choice.surplus.size() == 2);
}

TEST_CASE("a node that has gone since the listing is passed over") {
  const auto choice = choose({unseen("/l/1", ServerErrc::no_node), seen("/l/2", true)});
  REQUIRE(choice.kept);
  CHECK(choice.kept->path == "/l/2");
  CHECK(choice.surplus.empty());
}

TEST_CASE("while one node could not be looked at nothing is kept, and nothing is deleted") {
  const auto choice = choose(
      {seen("/l/1", false), seen("/l/2", true), unseen("/l/3", ServerErrc::connection_loss)});
  CHECK_FALSE(choice.kept);
  CHECK(choice.surplus.empty());
}

TEST_CASE("the stat of the node that is kept is that of the look") {
  SeenNode node = seen("/l/1", true);
  node.look.stat.czxid = 42;
  const auto choice = choose({std::move(node)});
  REQUIRE(choice.kept);
  CHECK(choice.kept->look.stat.czxid == 42);
}

}  // namespace
}  // namespace custodian::tests::protected_nodes_test
