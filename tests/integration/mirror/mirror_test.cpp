// Mirrors of trees on real servers: through cuts, restarts and lost sessions they become equal to
// the servers' tree, for every kind of node, and for many threads.

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <random>

#include "custodian/authoring/path.hpp"
#include "custodian/mirror/node_cache.hpp"
#include "custodian/mirror/path_children_cache.hpp"
#include "custodian/mirror/tree_cache.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "integration/clusters.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::mirror_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using testing::FaultProxy;
using testing::TestingCluster;

/// Another client of the same paths.
Client beside(const TestClient& client, std::string servers) {
  ClientOptions options = options_for(std::move(servers));
  options.name_space = client.root();
  return Client{options};
}

/// The nodes that a mirror's changes give.
class Replay {
 public:
  void apply(const MirrorChange& change) {
    const std::lock_guard lock{mutex_};
    const MirroredNodePtr& any = change.node ? change.node : change.before;
    if (!any) return;
    const auto known = nodes_.find(any->path);
    if ((known == nodes_.end() ? nullptr : known->second) != change.before) fits_ = false;
    if (change.node) {
      nodes_[any->path] = change.node;
    } else {
      nodes_.erase(any->path);
    }
  }
  [[nodiscard]] bool gives(const MirrorSnapshot& snapshot) const {
    const std::lock_guard lock{mutex_};
    return fits_ && nodes_.size() == snapshot.size() &&
           std::ranges::all_of(snapshot.nodes(), [&](const MirroredNodePtr& node) {
             const auto known = nodes_.find(node->path);
             return known != nodes_.end() && known->second == node;
           });
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, MirroredNodePtr> nodes_;
  bool fits_ = true;
};

void collect(const Client& client, const std::string& path, std::vector<MirroredNode>& all) {
  if (!client.exists(path)) return;
  GetResult found = client.get(path);
  all.push_back({path, std::move(found.data), found.stat});
  auto names = client.children(path).names;
  std::ranges::sort(names);
  for (const std::string& name : names) collect(client, join(path, name), all);
}

/// Whether the mirror equals what a client reads, node by node.
bool is_the_tree(const Mirror& mirror, const Client& client) {
  if (mirror.state() != MirrorState::synced) return false;
  client.sync(mirror.path());
  std::vector<MirroredNode> all;
  collect(client, mirror.path(), all);
  const MirrorSnapshotPtr snapshot = mirror.snapshot();
  return std::ranges::equal(
      snapshot->nodes(), all, [](const MirroredNodePtr& node, const MirroredNode& there) {
        return node->path == there.path && node->data == there.data &&
               node->stat.czxid == there.stat.czxid && node->stat.mzxid == there.stat.mzxid;
      });
}

TEST_CASE("a mirror has every kind of node, follows them, and leaves no watch") {
  TestClient client{"kinds"};
  Client other = beside(client, client.servers());
  client->create("/m");
  client->create("/m/persistent", "1");
  other.create("/m/ephemeral", "2", {.mode = CreateMode::ephemeral});
  client->create("/m/container", "3", {.mode = CreateMode::container});
  client->create("/m/container/below", "4");
  {
    TreeCache mirror{*client, "/m"};
    mirror.wait_synced();
    CHECK(is_the_tree(mirror, other));
    CHECK(mirror.snapshot()->size() == 5);
    CHECK(client->load().watches == 9);  // no list of the ephemeral node's children
    client->create("/m/container/another", "5");
    other.set("/m/persistent", "6");
    other.remove("/m/ephemeral");
    other.remove("/m/container", {.descendants = Descendants::are_removed});
    CHECK(eventually([&] { return is_the_tree(mirror, other); }));
    CHECK(mirror.snapshot()->size() == 2);
  }
  CHECK(eventually([&] { return client->load().watches == 0; }));
}

TEST_CASE("a missing path is an empty mirror, until it is created") {
  TestClient client{"missing"};
  NodeCache node{*client, "/m"};
  PathChildrenCache children{*client, "/m"};
  CHECK(node.wait_synced_for(patience));
  children.wait_synced();
  CHECK_FALSE(node.get());
  CHECK(children.children().empty());
  client->create("/m", "here");
  client->create("/m/a", "child");
  CHECK(eventually([&] { return node.get() && children.children().size() == 1; }));
  CHECK(node.get()->data == "here");
}

TEST_CASE("a coroutine and a thread read the stream of changes") {
  TestClient client{"stream"};
  client->create("/m");
  TreeCache mirror{*client, "/m"};
  CHECK(mirror.next().kind == MirrorChangeKind::added);
  CHECK(mirror.next().kind == MirrorChangeKind::synced);
  asio::io_context context;
  auto path = asio::co_spawn(
      context,
      [](TreeCache* followed) -> asio::awaitable<std::string> {
        const MirrorChange change = co_await followed->async_next(asio::use_awaitable);
        co_return change.node->path;
      }(&mirror),
      asio::use_future);
  std::thread reader{[&] { context.run(); }};
  client->create("/m/a");
  const bool has_come = path.wait_for(patience) == std::future_status::ready;
  if (!has_come) context.stop();
  reader.join();
  REQUIRE(has_come);
  CHECK(path.get() == "/m/a");
  std::stop_source source;
  error_code error;
  std::thread waiter{
      [&] { error = error_of([&] { static_cast<void>(mirror.next(source.get_token())); }); }};
  source.request_stop();
  waiter.join();
  CHECK(error == asio::error::operation_aborted);
}

/// Writes to a small tree at random; the outcome of a write does not matter.
class Writer {
 public:
  Writer(Client& client, std::uint64_t seed) : client_{client}, random_{seed} {}

  void write() {
    std::string path = "/m";
    for (int level = pick(3); level > 0; --level) path += std::string{"/"} + "abcdef"[pick(6)];
    const int what = pick(5);
    static_cast<void>(error_of([&] {
      if (what < 2) client_.create(path, std::to_string(pick(9)));
      if (what == 2 || what == 3) client_.set(path, std::to_string(pick(9)));
      if (what == 4) client_.remove(path, {.descendants = Descendants::are_removed});
    }));
  }

 private:
  [[nodiscard]] int pick(int below) {
    return std::uniform_int_distribution<int>{0, below - 1}(random_);
  }
  Client& client_;
  std::mt19937_64 random_;
};

TEST_CASE("a mirror sees cut connections, a restart and lost sessions through") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  FaultProxy proxy{server.endpoint()};
  TestClient client{"outages", proxy.connect_string()};
  Client other = beside(client, server.connect_string());
  other.create("/m");
  TreeCache mirror{*client, "/m"};
  Replay replay;
  const Subscription subscription =
      mirror.on_change([&](const MirrorChange& change) { replay.apply(change); });
  Writer writer{other, 1};
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 20; ++i) writer.write();
    if (round % 3 == 0) proxy.cut();
    if (round == 4) server.restart();
    if (round % 4 == 2) {
      const SessionInfo session = client->session();
      server.expire_session(session.id, session.password);
    }
    for (int i = 0; i < 20; ++i) writer.write();
    CHECK(eventually([&] { return is_the_tree(mirror, other); }));
    CHECK(eventually([&] { return replay.gives(*mirror.snapshot()); }));
  }
}

// CUSTODIAN_TEST_WALKS=<number> sets the number of walks.
TEST_CASE("a mirror of an ensemble is what the ensemble has, through cuts, kills and expiries") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const char* const text = std::getenv("CUSTODIAN_TEST_WALKS");
  const int walks = text == nullptr ? 6 : std::atoi(text);
  testing::TestingClusterOptions options = quick_cluster();
  options.client_links = testing::ClientLinks::proxied;
  TestingCluster cluster{secured(options)};
  TestClient client{"members", connect_string(cluster)};
  Client other = beside(client, connect_string(cluster));
  other.create("/m");
  TreeCache mirror{*client, "/m"};
  Replay replay;
  const Subscription subscription =
      mirror.on_change([&](const MirrorChange& change) { replay.apply(change); });
  Writer writer{other, static_cast<std::uint64_t>(walks)};
  for (int walk = 0; walk < walks; ++walk) {
    const std::size_t member = static_cast<std::size_t>(walk) % cluster.size();
    for (int i = 0; i < 20; ++i) writer.write();
    for (std::size_t each = 0; walk % 2 == 0 && each < cluster.size(); ++each) {
      cluster.client_proxy(each).cut();
    }
    if (walk % 3 == 1) cluster.kill(member);
    for (int i = 0; i < 20; ++i) writer.write();
    if (walk % 4 == 2) cluster.expire(*client);
    for (int i = 0; i < 20; ++i) writer.write();
    if (walk % 3 == 1) {
      cluster.start(member);
      cluster.wait_until_serving();
    }
    INFO("walk " << walk);
    REQUIRE(eventually([&] { return is_the_tree(mirror, other); }));
    REQUIRE(eventually([&] { return replay.gives(*mirror.snapshot()); }));
  }
}

TEST_CASE("threads read a mirror, and come and go as listeners, while it changes") {
  TestClient client{"threads"};
  Client other = beside(client, client.servers());
  other.create("/m");
  TreeCache mirror{*client, "/m"};
  mirror.wait_synced();
  std::atomic<bool> enough = false;
  std::atomic<int> troubles = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!enough) {
        // A call that is under way may outlast the subscription.
        const auto replay = std::make_shared<Replay>();
        const Subscription subscription =
            mirror.on_change([replay](const MirrorChange& change) { replay->apply(change); });
        const MirrorSnapshotPtr snapshot = mirror.snapshot();
        for (const MirroredNodePtr& node : snapshot->nodes()) {
          if (snapshot->get(node->path) != node) ++troubles;
        }
        if (snapshot->get("/m")) static_cast<void>(mirror.children("/m"));
      }
    });
  }
  Writer writer{other, 3};
  for (int i = 0; i < 300; ++i) writer.write();
  const bool follows = eventually([&] { return is_the_tree(mirror, other); });
  enough = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(follows);
  CHECK(troubles == 0);
}

TEST_CASE("a mirror of thousands of nodes costs no read after a disconnection") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  FaultProxy proxy{server.endpoint()};
  TestClient client{"many", proxy.connect_string()};
  Client other = beside(client, server.connect_string());
  constexpr int nodes = 2000;
  other.create("/m");
  for (int i = 0; i < nodes; i += 100) {
    Transaction transaction;
    for (int k = i; k < i + 100; ++k) transaction.push_back(create("/m/" + std::to_string(k)));
    other.commit(std::move(transaction));
  }
  TreeCache mirror{*client, "/m"};
  mirror.wait_synced();
  CHECK(mirror.snapshot()->size() == nodes + 1);
  CHECK(client->load().watches == 2 * (nodes + 1));
  const MirrorSnapshotPtr before = mirror.snapshot();
  proxy.cut();
  REQUIRE(eventually([&] {
    return mirror.state() == MirrorState::suspended || client->session().connection > 1;
  }));
  mirror.wait_synced();
  CHECK(mirror.snapshot() == before);
  other.set("/m/7", "seven");
  CHECK(eventually([&] { return mirror.get("/m/7")->data == "seven"; }));
}

}  // namespace
}  // namespace custodian::tests::mirror_test
