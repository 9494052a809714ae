// The cost of a mirror of many nodes, ours and Curator's caches on the same tree: the time until
// all are known, the memory for each, and the requests behind a disconnection and a lost session.
//
// CUSTODIAN_TEST_MIRRORED_NODES sets the number of nodes; by default a few hundred. Times and
// memory are printed, and not judged: they mean something only on an idle machine.

#include <malloc.h>

#include <chrono>
#include <iostream>
#include <sstream>

#include "curators_nodes.hpp"
#include "custodian/mirror/tree_cache.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "support/number_in.hpp"

namespace custodian::tests::many_nodes_test {
namespace {

using namespace std::chrono_literals;
using testing::FaultProxy;

constexpr int nodes_of_a_folder = 200;
constexpr int tries = 3;

struct Cost {
  double milliseconds = 0;
  double bytes_a_node = 0;
  std::int64_t after_cut = 0;      ///< requests after a disconnection
  std::int64_t after_session = 0;  ///< requests after a lost session
};

void fill(Client& client, int nodes) {
  for (int folder = 0; folder * nodes_of_a_folder < nodes; ++folder) {
    const std::string path = "/here/folder-" + std::to_string(folder);
    Transaction transaction{create(path)};
    for (int i = 0; i < nodes_of_a_folder; ++i) {
      transaction.push_back(create(path + "/node-" + std::to_string(i), std::string(100, 'x')));
    }
    client.commit(std::move(transaction));
  }
}

/// The bytes that the process has allocated.
double allocated() {
  const auto info = ::mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

/// Counts the packets that a server gets from its clients.
class PacketCounter {
 public:
  explicit PacketCounter(const Server& server) : server_{server} {}

  /// The number of packets that `act` causes. They begin within some seconds, or not at all.
  template <typename Act>
  [[nodiscard]] std::int64_t behind(std::chrono::seconds some, Act act) {
    constexpr std::int64_t a_few = 20;
    const std::int64_t before = when_quiet();
    act();
    const Deadline begin{some};
    while (!begin.passed() && packets() <= before + a_few) std::this_thread::sleep_for(200ms);
    return when_quiet() - before;
  }

 private:
  /// The question itself is a packet, too.
  std::int64_t packets() { return server_.statistic("zk_packets_received") - asked_++; }
  /// Waits until all clients send only pings.
  std::int64_t when_quiet() {
    constexpr auto window = 1s;
    constexpr std::int64_t pings = 8;
    for (std::int64_t before = packets();;) {
      std::this_thread::sleep_for(window);
      const std::int64_t now = packets();
      if (now - before < pings) return now;
      before = now;
    }
  }

  const Server& server_;
  std::int64_t asked_ = 0;
};

Cost our_cost(const Server& server, Client& client, FaultProxy& proxy, std::size_t nodes,
              std::chrono::seconds some) {
  Cost cost;
  PacketCounter counter{server};
  std::optional<TreeCache> mirror;
  for (int i = 0; i < tries; ++i) {
    mirror.reset();
    CHECK(eventually([&] { return client.load().watches == 0; }));
    const double before = allocated();
    const auto begin = std::chrono::steady_clock::now();
    mirror.emplace(client, "/here");
    mirror->wait_synced();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (i == 0 || took.count() < cost.milliseconds) cost.milliseconds = took.count();
    CHECK(mirror->snapshot()->size() == nodes);
    cost.bytes_a_node = (allocated() - before) / static_cast<double>(nodes);
  }
  cost.after_cut = counter.behind(some, [&] {
    const std::uint64_t connection = client.session().connection;
    proxy.cut();
    CHECK(eventually([&] { return client.session().connection > connection; }));
    mirror->wait_synced();
  });
  cost.after_session = counter.behind(some, [&] {
    const SessionInfo session = client.session();
    server.expire_session(session.id, session.password);
    CHECK(eventually([&] { return client.session().id != session.id; }));
    CHECK(eventually([&] { return mirror->state() == MirrorState::synced; }));
  });
  CHECK(mirror->snapshot()->size() == nodes);
  return cost;
}

Cost curators_cost(const Server& server, Session& curators, FaultProxy& proxy,
                   const std::string& kind, std::size_t nodes, std::chrono::seconds some) {
  Cost cost;
  PacketCounter counter{server};
  for (int i = 0; i < tries; ++i) {
    if (i != 0) curators.does("uncache " + kind);
    std::istringstream answer{curators.does("load " + kind + " /here " + std::to_string(nodes))};
    double micros = 0;
    double bytes = 0;
    answer >> micros >> bytes;
    if (i == 0 || micros / 1000 < cost.milliseconds) cost.milliseconds = micros / 1000;
    cost.bytes_a_node = bytes / static_cast<double>(nodes);
  }
  cost.after_cut = counter.behind(some, [&] { proxy.cut(); });
  cost.after_session = counter.behind(some, [&] { curators.does("expire " + kind); });
  curators.does("uncache " + kind);
  return cost;
}

void print(const std::string& who, const Cost& cost) {
  std::cout << "  " << who << ": in sync after " << cost.milliseconds << " ms, "
            << cost.bytes_a_node << " bytes a node; " << cost.after_cut
            << " packets after a disconnection, " << cost.after_session
            << " after a lost session\n";
}

TEST_CASE("a mirror of many nodes beside Curator's caches") {
  CUSTODIAN_REQUIRES_CURATOR();
  const int wanted = number_in("CUSTODIAN_TEST_MIRRORED_NODES", 400);
  const std::chrono::seconds some = wanted < 10'000 ? 5s : 20s;
  // Both sides restore all their watches in one request, or in few.
  constexpr std::size_t large = 16 << 20;
  const Server server{{.jute_max_buffer = large}};
  FaultProxy proxy{server.endpoint()};
  FaultProxy curators_proxy{server.endpoint()};
  CuratorsNodes beside{"many", server.connect_string(), curators_proxy.connect_string()};
  fill(*beside.client, wanted);
  const auto nodes = static_cast<std::size_t>(1 + (wanted + nodes_of_a_folder - 1) /
                                                      nodes_of_a_folder * (1 + nodes_of_a_folder));

  ClientOptions options = options_for(proxy.connect_string());
  options.name_space = beside.client.root();
  options.max_request_size = large;
  Client client{options};
  const Cost ours = our_cost(server, client, proxy, nodes, some);
  const Cost cache = curators_cost(server, beside.curators, curators_proxy, "curator", nodes, some);
  const Cost tree = curators_cost(server, beside.curators, curators_proxy, "tree", nodes, some);
  std::cout << "  " << nodes << " nodes, the best of " << tries << " times\n";
  print("TreeCache of ours", ours);
  print("CuratorCache", cache);
  print("TreeCache of Curator's", tree);
  CHECK(ours.after_cut < 50);  // pings
  CHECK(ours.after_session >= static_cast<std::int64_t>(2 * nodes));
}

}  // namespace
}  // namespace custodian::tests::many_nodes_test
