// Curator's groups, persistent nodes and caches beside ours, on the same nodes.

#include <random>

#include "curators_nodes.hpp"
#include "custodian/mirror/path_children_cache.hpp"
#include "custodian/mirror/tree_cache.hpp"
#include "custodian/nodes/group_member.hpp"
#include "custodian/nodes/persistent_node.hpp"

namespace custodian::tests::curator_nodes_test {
namespace {

using Members = Group::Members;
using State = PersistentNodeState;

TEST_CASE("Curator's members of a group are ours, and ours are Curator's") {
  CUSTODIAN_REQUIRES_CURATOR();
  CuratorsNodes beside{"group"};
  GroupMember ours{*beside.client, "/group", "a", "1"};
  beside.curators.does("join /group b 2");
  const auto curators_sight = [&] { return beside.curators.does("members b"); };
  CHECK(eventually([&] { return ours.members() == Members{{"a", "1"}, {"b", "2"}}; }));
  CHECK(eventually([&] { return curators_sight() == "a=1 b=2"; }));
  ours.set_payload("3");
  CHECK(eventually([&] { return curators_sight() == "a=3 b=2"; }));
  beside.curators.does("join /group c 4");
  CHECK(eventually([&] { return ours.members().size() == 3; }));
  beside.curators.does("leave c");
  CHECK(eventually([&] { return ours.members() == Members{{"a", "3"}, {"b", "2"}}; }));
  CHECK(ours.leave());
  CHECK(eventually([&] { return curators_sight() == "b=2"; }));
}

TEST_CASE("a node that Curator keeps is neither written nor deleted by ours of the same name") {
  CUSTODIAN_REQUIRES_CURATOR();
  CuratorsNodes beside{"node-theirs"};
  beside.curators.does("keep /node theirs");
  const Stat before = beside.client->get("/node").stat;
  for (int i = 0; i < 3; ++i) {
    PersistentNode ours{*beside.client, "/node", "ours"};
    REQUIRE(eventually([&] { return ours.state() == State::taken; }));
    static_cast<void>(ours.close());
    CHECK(beside.client->get("/node").stat == before);
  }
  PersistentNode ours{*beside.client, "/node", "ours"};
  REQUIRE(eventually([&] { return ours.state() == State::taken; }));
  beside.curators.does("drop /node");
  ours.wait_present();
  CHECK(beside.client->get("/node").data == "ours");
}

// Curator's PersistentNode writes a node that it finds, and deletes it when it is closed, also if
// another session owns it. So the only promise is that our node is there again at once.
TEST_CASE("a node of ours that Curator keeps, too, has our data, and outlives Curator's close") {
  CUSTODIAN_REQUIRES_CURATOR();
  CuratorsNodes beside{"node-ours"};
  PersistentNode ours{*beside.client, "/node", "ours"};
  ours.wait_present();
  const auto is_ours = [&] {
    const auto stat = beside.client->exists("/node");
    return stat && stat->ephemeral_owner == beside.client->session().id &&
           beside.client->get("/node").data == "ours";
  };
  beside.curators.does("keep /node theirs");
  CHECK(eventually([&] { return beside.client->exists("/node")->version >= 2 && is_ours(); }));
  const std::int64_t first = beside.client->exists("/node")->czxid;
  beside.curators.does("drop /node");
  CHECK(eventually([&] {
    const auto stat = beside.client->exists("/node");
    return stat && stat->czxid != first && is_ours();
  }));
}

/// Writes at random to a tree of two levels.
class Writer {
 public:
  explicit Writer(Client& client) : client_{client} {}

  void write() {
    std::string path = "/here";
    for (int level = 1 + pick(2); level > 0; --level) path += std::string{"/"} + "abcdef"[pick(6)];
    const std::string data = std::to_string(pick(100));
    const int what = pick(6);
    // Many of these writes fail, since the node exists already, or does not exist.
    static_cast<void>(error_of([&] {
      if (what < 2) client_.create(path, data);
      if (what == 2 || what == 3) client_.set(path, data);
      if (what == 4) client_.remove(path, {.descendants = Descendants::are_removed});
      if (what == 5) client_.commit({remove(path), create(path, data)});
    }));
  }

 private:
  [[nodiscard]] int pick(int below) {
    return std::uniform_int_distribution<int>{0, below - 1}(random_);
  }
  Client& client_;
  std::mt19937_64 random_{7};
};

/// "path=data@czxid" of each node, by path, as Curator's driver says it.
std::string describe(const MirrorSnapshot& snapshot, bool with_the_root) {
  std::map<std::string, std::string> all;
  for (const MirroredNodePtr& node : snapshot.nodes()) {
    if (node->path == "/here" && !with_the_root) continue;
    all[node->path] = node->path + "=" + node->data + "@" + std::to_string(node->stat.czxid);
  }
  std::string text;
  for (const auto& [path, words] : all) text += (text.empty() ? "" : " ") + words;
  return text;
}

TEST_CASE("Curator's caches and ours are the same behind random histories") {
  CUSTODIAN_REQUIRES_CURATOR();
  CuratorsNodes beside{"caches"};
  const TreeCache tree{*beside.client, "/here"};
  const PathChildrenCache children{*beside.client, "/here"};
  for (const char* kind : {"curator", "tree", "children"}) {
    beside.curators.does(std::string{"cache "} + kind + " /here");
  }
  Writer writer{*beside.client};
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 50; ++i) writer.write();
    INFO("round " << round);
    const auto agree = [&](const Mirror& ours, const std::string& kind, bool with_the_root) {
      std::string known;
      std::string curators;
      const bool are_same = eventually([&] {
        known = describe(*ours.snapshot(), with_the_root);
        curators = beside.curators.does("tree " + kind);
        return known == curators;
      });
      INFO(kind);
      if (!are_same) CHECK(known == curators);
    };
    agree(tree, "curator", true);
    agree(tree, "tree", true);
    agree(children, "children", false);
  }
}

}  // namespace
}  // namespace custodian::tests::curator_nodes_test
