// A map of two ensembles: what its constructors refuse, and whose client a path gets.

#include "custodian/ensembles/ensemble_map.hpp"

#include "custodian/leader/leader_latch.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "scripted/ensembles/two_ensembles.hpp"

namespace custodian::tests::ensemble_map_test {
namespace {

using namespace two_ensembles;

/// The text of the error that a call throws.
std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.code() == Errc::invalid_argument);
    return error.what();
  }
  return {};
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

TEST_CASE("ensemble map: each ensemble has a client of its own, or the map is refused",
          "[ensembles]") {
  Ensembles ensembles;
  const auto east = ensembles.client(0, "mine-east");
  const auto west = ensembles.client(1, "mine-west");
  const auto refused = [&](const EnsembleLayout& layout, const EnsembleMap::Clients& clients) {
    return refusal_of([&] { EnsembleMap{layout, clients}; });
  };
  const EnsembleLayout layout = even_layout();
  CHECK(refused(layout, {{"east", *east}, {"west", *west}}).empty());
  CHECK(has(refused(layout, {{"east", *east}}), "the ensemble west has none"));
  CHECK(has(refused(layout, {{"east", *east}, {"west", *west}, {"north", *west}}),
            "the layout has no ensemble north"));
  CHECK(has(refused(layout, {{"east", *east}, {"west", *east}}),
            "east and west have the same client"));
  const Client handle = east->share();
  CHECK(has(refused(layout, {{"east", *east}, {"west", handle}}), "have the same client"));
  CHECK(has(refused({}, {}), "ensembles"));
  EnsembleLayout wrong = layout;
  wrong.pins["/a"] = "nroth";
  CHECK(has(refused(wrong, {{"east", *east}, {"west", *west}}), "pinned to nroth"));
  wrong = layout;
  // The layout alone does not know all rules of ZooKeeper's paths.
  wrong.pins["/a/../b"] = "east";
  CHECK(has(refused(wrong, {{"east", *east}, {"west", *west}}), "/a/../b"));
}

TEST_CASE("ensemble map: a path gets the client of its home", "[ensembles]") {
  Ensembles ensembles;
  const Process mine{ensembles, "mine"};
  int at_east = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string path = "/orders/" + std::to_string(i);
    const std::string& home = mine.map.home_of(path);
    CHECK(home == mine.map.layout().home_of(path));
    const Client client = mine.map.client_for(path);
    CHECK(client.identity() == "mine-" + home);
    CHECK(mine.map.client(home).identity() == client.identity());
    if (home == "east") ++at_east;
  }
  CHECK(at_east > 60);
  CHECK(at_east < 140);
  CHECK(mine.map.home_of("/at-west/a/b/c") == "west");
  CHECK(mine.map.fingerprint() == even_layout().fingerprint());
  CHECK(has(refusal_of([&] { (void)mine.map.home_of("orders"); }), "orders"));
  CHECK(has(refusal_of([&] { (void)mine.map.client_for("/a/./b"); }), "/a/./b"));
  CHECK(has(refusal_of([&] { (void)mine.map.client("north"); }), "none of this name"));
}

TEST_CASE("ensemble map: a recipe that is made with a map has its nodes at its path's home only",
          "[ensembles]") {
  Ensembles ensembles;
  Process mine{ensembles, "mine"};
  {
    auto mutex = mine.map.make<InterProcessMutex>("/at-west/mutex", LockOptions{.identity = "me"});
    const auto lease =
        run<Lease>(ensembles.world, [&](auto done) { mutex.async_acquire(std::move(done)); });
    REQUIRE(lease.arrived());
    CHECK(lease.result());
    CHECK(ensembles.west.children("/at-west/mutex").size() == 1);
    CHECK_FALSE(ensembles.world.ensemble.exists("/at-west"));
    // A recipe of two arguments, and one that cannot be moved.
    auto permits = mine.map.make<InterProcessSemaphore>("/at-east/permits", 5);
    CHECK(permits.path() == "/at-east/permits");
    const LeaderLatch latch = mine.map.make<LeaderLatch>("/at-east/latch");
    CHECK(latch.path() == "/at-east/latch");
  }
  CHECK(mine.end(ensembles));
}

TEST_CASE("ensemble map: a map with clients of its own ends them", "[ensembles]") {
  testing::FakeEnsemble east;
  testing::FakeEnsemble west;
  std::optional<EnsembleMap> map{EnsembleMap{
      even_layout(), std::map<std::string, ClientOptions>{{"east", east.options("mine")},
                                                          {"west", west.options("mine")}}}};
  EnsembleMap moved = std::move(*map);
  map.emplace(std::move(moved));
  map->client("east").wait_connected();
  map->client_for("/at-west").wait_connected();
  auto mutex = map->make<InterProcessMutex>("/at-west/mutex");
  const Lease lease = mutex.acquire();
  CHECK(west.children("/at-west/mutex").size() == 1);
  map->verify("/map");
  map.reset();
  CHECK(lease.state() == LeaseState::lost);
  CHECK_THROWS_AS(mutex.acquire(), Error);
  const auto refused = [&](const std::map<std::string, ClientOptions>& options) {
    return refusal_of([&] { EnsembleMap{even_layout(), options}; });
  };
  CHECK(has(refused({{"east", east.options("mine")}}), "the ensemble west has none"));
}

}  // namespace
}  // namespace custodian::tests::ensemble_map_test
