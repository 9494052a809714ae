// Handles of one client with namespaces of their own (Client::with_namespace()).

#include <algorithm>

#include "custodian/lock_sets/inter_process_multi_lock.hpp"
#include "custodian/lock_sets/quorum_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/mirror/tree_cache.hpp"
#include "custodian/nodes/persistent_node.hpp"
#include "custodian/observer.hpp"
#include "scripted/ending_world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::namespace_test {
namespace {

class Spaces {
 public:
  explicit Spaces(const std::function<void(ClientOptions&)>& change = [](ClientOptions&) {})
      : client{make(change)} {
    world.make("/a");
    world.make("/b");
  }

  template <typename Recipe>
  Lease acquire(Recipe& lock) {
    auto place = run<Lease>(world, [&](auto done) { lock.async_acquire(done); });
    REQUIRE(place.arrived());
    REQUIRE_FALSE(place.error());
    return std::move(place.result());
  }
  Outcome<Created> create(Client& in, const std::string& path, CreateOptions options = {}) {
    return run<Created>(
        world, [&](auto done) { in.async_create(path, "data", std::move(options), done); });
  }
  Outcome<std::vector<TransactionResult>> commit(Client& in, Transaction transaction) {
    return run<std::vector<TransactionResult>>(
        world, [&](auto done) { in.async_commit(std::move(transaction), {}, done); });
  }

  EndingWorld world;
  std::unique_ptr<Client> client;

 private:
  std::unique_ptr<Client> make(const std::function<void(ClientOptions&)>& change) {
    ClientOptions options = world.options("mine");
    change(options);
    return world.client(std::move(options));
  }
};

TEST_CASE("namespace: a handle's paths are below its own, in the same session") {
  Spaces spaces;
  Client a = spaces.client->with_namespace("a");
  const auto created = spaces.create(a, "/n");
  REQUIRE(created.arrived());
  CHECK(created.result().path == "/n");
  CHECK(spaces.world.ensemble.exists("/a/n"));
  CHECK(a.session().id == spaces.client->session().id);
  CHECK(spaces.world.ensemble.sessions().size() == 1);
  CHECK(a.name_space() == "/a");
  CHECK(spaces.client->name_space().empty());
  // A namespace that does not exist comes into being with the first node, as the client's own.
  Client deep = spaces.client->with_namespace("/c/d");
  CHECK_FALSE(spaces.create(deep, "/n").error());
  CHECK(spaces.world.ensemble.exists("/c/d/n"));
  const auto read = run<Children>(spaces.world, [&](auto done) {
    spaces.client->async_children("/c/d", OperationOptions{}, done);
  });
  CHECK(read.result().names == std::vector<std::string>{"n"});
}

TEST_CASE("namespace: it takes the place of the client's own, as Curator's, behind the chroot") {
  Spaces spaces{[](ClientOptions& options) {
    options.servers += "/root";
    options.name_space = "own";
  }};
  spaces.world.make("/root");
  CHECK(spaces.client->name_space() == "/own");
  Client other = spaces.client->with_namespace("other");
  CHECK_FALSE(spaces.create(other, "/n").error());
  CHECK(spaces.world.ensemble.exists("/root/other/n"));
  Client none = other.with_namespace("");
  CHECK(none.name_space().empty());
  CHECK_FALSE(spaces.create(none, "/n").error());
  CHECK(spaces.world.ensemble.exists("/root/n"));
  Client below = spaces.client->with_namespace(spaces.client->name_space() + "/sub");
  CHECK_FALSE(spaces.create(below, "/n").error());
  CHECK(spaces.world.ensemble.exists("/root/own/sub/n"));
}

TEST_CASE("namespace: equal ones are one, and that of the client is the client") {
  Spaces spaces{[](ClientOptions& options) { options.name_space = "own"; }};
  const Client a = spaces.client->with_namespace("a");
  CHECK(a.core() == spaces.client->with_namespace("/a").core());
  CHECK(a.core() == a.share().core());
  CHECK(a.core() != spaces.client->core());
  CHECK(a.with_namespace("own").core() == spaces.client->core());
  CHECK(spaces.client->with_namespace("/").core() == spaces.client->with_namespace("").core());
}

TEST_CASE("namespace: a wrong one is refused") {
  Spaces spaces;
  for (const char* wrong : {"a/", "a//b", "..", "/a/./b"}) {
    CHECK_THROWS_AS(spaces.client->with_namespace(wrong), Error);
  }
}

TEST_CASE("namespace: errors name the path of the handle") {
  Spaces spaces;
  Client a = spaces.client->with_namespace("a");
  const auto failed = spaces.commit(a, {create("/n", ""), create("/n", "")});
  REQUIRE(failed.arrived());
  CHECK(failed.error() == ServerErrc::node_exists);
  const auto done = spaces.commit(a, {create("/n", "")});
  REQUIRE(done.arrived());
  CHECK(done.result().at(0).path == "/n");
  CHECK(spaces.world.ensemble.exists("/a/n"));
  CHECK_THROWS_AS(a.get("no slash"), Error);
}

TEST_CASE("namespace: locks at one path in two of them are two locks") {
  // That hold for all that a client shares by a lock's path.
  const auto options = GENERATE(LockOptions{}, LockOptions{.hand_off = HandOff::strict()},
                                LockOptions{.keep_idle_for = std::chrono::minutes{1}});
  Spaces spaces;
  const Client a = spaces.client->with_namespace("a");
  const Client b = spaces.client->with_namespace("b");
  std::optional<InterProcessMutex> first{std::in_place, a, "/lock", options};
  std::optional<InterProcessMutex> second{std::in_place, b, "/lock", options};
  Lease one = spaces.acquire(*first);
  Lease two = spaces.acquire(*second);
  CHECK(one.state() == LeaseState::held);
  CHECK(two.state() == LeaseState::held);
  CHECK(spaces.world.ensemble.children("/a/lock").size() == 1);
  CHECK(spaces.world.ensemble.children("/b/lock").size() == 1);
  // Each passes on to those of its own namespace.
  Outcome<Lease> behind;
  first->async_acquire(behind.handler());
  spaces.world.settle();
  two.release();
  spaces.world.settle();
  CHECK_FALSE(behind.arrived());
  one.release();
  REQUIRE(spaces.world.run_until_arrived(behind));
  CHECK(behind.result().state() == LeaseState::held);
  behind.result().release();
  Lease again = spaces.acquire(*second);
  CHECK(spaces.world.ensemble.children("/b/lock").size() == 1);
  again.release();
  spaces.client->release_kept_locks();
  CHECK(spaces.world.run_until([&] {
    return spaces.world.ensemble.children("/a/lock").empty() &&
           spaces.world.ensemble.children("/b/lock").empty();
  }));
}

TEST_CASE("namespace: readers at one path in two of them share no node") {
  Spaces spaces;
  const Client a = spaces.client->with_namespace("a");
  const Client b = spaces.client->with_namespace("b");
  const LockOptions options{.share_readers = 64};
  InterProcessReadWriteLock first{a, "/book", options};
  InterProcessReadWriteLock second{b, "/book", options};
  Lease one = spaces.acquire(first.read());
  Lease two = spaces.acquire(second.read());
  Lease three = spaces.acquire(second.read());
  CHECK(one.node() == "/book/" + spaces.world.ensemble.children("/a/book").at(0));
  CHECK(two.node() == "/book/" + spaces.world.ensemble.children("/b/book").at(0));
  CHECK(three.node() == two.node());
  // A writer of one namespace waits for the readers of that one only.
  Outcome<Lease> writer;
  first.write().async_acquire(writer.handler());
  one.release();
  REQUIRE(spaces.world.run_until_arrived(writer));
  CHECK(three.state() == LeaseState::held);
  writer.result().release();
  two.release();
  three.release();
  CHECK(spaces.world.run_until([&] { return spaces.world.ensemble.children("/b/book").empty(); }));
}

TEST_CASE("namespace: two that lead to the same node contend for its lock as two clients do") {
  const auto options =
      GENERATE(LockOptions{}, LockOptions{.keep_idle_for = std::chrono::minutes{1}});
  Spaces spaces;
  const Client a = spaces.client->with_namespace("a");
  InterProcessMutex outer{*spaces.client, "/a/lock", options};
  InterProcessMutex inner{a, "/lock", options};
  Lease held = spaces.acquire(outer);
  Outcome<Lease> waits;
  inner.async_acquire(waits.handler());
  spaces.world.settle();
  CHECK_FALSE(waits.arrived());
  held.release();
  REQUIRE(spaces.world.run_until_arrived(waits));
  REQUIRE_FALSE(waits.error());
  waits.result().release();
  spaces.acquire(outer).release();
  spaces.acquire(inner).release();
  spaces.client->release_kept_locks();
  CHECK(spaces.world.run_until([&] { return spaces.world.ensemble.children("/a/lock").empty(); }));
}

TEST_CASE("namespace: the limit of kept locks is the client's, over all of them") {
  Spaces spaces{[](ClientOptions& options) { options.max_kept_locks = 1; }};
  const LockOptions keeps{.keep_idle_for = std::chrono::minutes{1}};
  InterProcessMutex first{spaces.client->with_namespace("a"), "/lock", keeps};
  InterProcessMutex second{spaces.client->with_namespace("b"), "/lock", keeps};
  spaces.acquire(first).release();
  spaces.world.settle();
  CHECK(spaces.client->kept_locks() == 1);
  spaces.acquire(second).release();
  CHECK(spaces.world.run_until([&] {
    return spaces.world.ensemble.children("/a/lock").empty() && spaces.client->kept_locks() == 1;
  }));
  CHECK(spaces.world.ensemble.children("/b/lock").size() == 1);
  spaces.client->with_namespace("c").release_kept_locks();
  CHECK(spaces.world.run_until([&] { return spaces.client->kept_locks() == 0; }));
}

TEST_CASE("namespace: a guarded write lands in the namespace of its lock, and fails in another") {
  Spaces spaces;
  Client a = spaces.client->with_namespace("a");
  InterProcessMutex mutex{a, "/lock"};
  const Lease lease = spaces.acquire(mutex);
  CHECK(lease.node().starts_with("/lock/"));
  CHECK_FALSE(spaces.commit(a, {lease.check(), create("/done", "")}).error());
  CHECK(spaces.world.ensemble.exists("/a/done"));
  const auto refused = spaces.commit(*spaces.client, {lease.check(), create("/done", "")});
  CHECK(refused.error() == ServerErrc::no_node);
  CHECK_FALSE(spaces.world.ensemble.exists("/done"));
}

TEST_CASE("namespace: the ACL provider gets paths of the client's own, or else the server's") {
  std::vector<std::string> asked;
  Spaces spaces{[&](ClientOptions& options) {
    options.name_space = "own";
    options.acl_provider = [&asked](std::string_view path) {
      asked.emplace_back(path);
      return open_acl();
    };
  }};
  const auto asked_for = [&](Client in, const std::string& path) {
    CHECK_FALSE(spaces.create(in, path, {.parents = Parents::created_as_containers}).error());
    std::vector<std::string> paths = std::exchange(asked, {});
    std::ranges::sort(paths);
    paths.erase(std::ranges::unique(paths).begin(), paths.end());
    return paths;
  };
  using Paths = std::vector<std::string>;
  CHECK(asked_for(spaces.client->share(), "/n") == Paths{"/", "/n"});
  CHECK(asked_for(spaces.client->with_namespace("own/sub"), "/p/n") ==
        Paths{"/sub", "/sub/p", "/sub/p/n"});
  CHECK(asked_for(spaces.client->with_namespace("other"), "/n") == Paths{"/other", "/other/n"});
  Client sub = spaces.client->with_namespace("own/sub");
  CHECK_FALSE(spaces.commit(sub, {create("/m", "")}).error());
  CHECK(asked == Paths{"/sub/m"});
}

/// Collects the paths of acquires.
struct Paths final : Observer {
  void on_acquire_ended(const AcquireEnded& event) override { all.emplace_back(event.path); }
  std::vector<std::string> all;
};

TEST_CASE("namespace: the observer gets paths of the client's own, or else the server's") {
  const auto observer = std::make_shared<Paths>();
  Spaces spaces{[&](ClientOptions& options) {
    options.name_space = "own";
    options.observer = observer;
  }};
  for (const char* name_space : {"own", "own/sub", "other"}) {
    InterProcessMutex mutex{spaces.client->with_namespace(name_space), "/lock"};
    spaces.acquire(mutex).release();
  }
  REQUIRE(spaces.world.run_until([&] { return observer->all.size() == 3; }));
  CHECK(observer->all == std::vector<std::string>{"/lock", "/sub/lock", "/other/lock"});
}

TEST_CASE("namespace: nodes, watches and mirrors are those of the handle") {
  Spaces spaces;
  std::optional<Client> a{spaces.client->with_namespace("a")};
  std::optional<TreeCache> mirror{std::in_place, *a, "/"};
  std::optional<PersistentNode> node{std::in_place, *a, "/n", "data"};
  // Recipes keep what they need of the handle.
  a.reset();
  CHECK(spaces.world.run_until([&] { return mirror->snapshot()->get("/n") != nullptr; }));
  CHECK(spaces.world.ensemble.exists("/a/n"));
  spaces.world.ensemble.operate(request::Set{"/a/n", "another's"});
  CHECK(spaces.world.run_until([&] {
    const Reply now = spaces.world.ensemble.operate(request::Get{"/a/n"});
    return now.data == "data" && now.stat.version == 2;
  }));
  node.reset();
  CHECK(spaces.world.run_until([&] { return !spaces.world.ensemble.exists("/a/n"); }));
  mirror.reset();
}

TEST_CASE("namespace: a protected create survives every fault") {
  for (std::size_t at = 0; at < 4; ++at) {
    for (const Fault& fault : all_faults()) {
      Spaces spaces;
      Client a = spaces.client->with_namespace("a");
      spaces.world.ensemble.set_fault_plan(std::make_shared<FaultsAt>("mine", Faults{{at, fault}}));
      const auto created = spaces.create(a, "/p/n-",
                                         {.mode = CreateMode::persistent_sequential,
                                          .protection = Protection::by_unique_name,
                                          .parents = Parents::created_as_containers});
      INFO("request " << at << ": " << describe(fault));
      REQUIRE(created.arrived());
      REQUIRE_FALSE(created.error());
      CHECK(spaces.world.ensemble.exists("/a" + created.result().path));
      CHECK(spaces.world.run_until(
          [&] { return spaces.world.ensemble.children("/a/p").size() == 1; }));
      spaces.world.ensemble.set_fault_plan(nullptr);
      CHECK(spaces.world.run_until_idle(*spaces.client));
    }
  }
}

TEST_CASE("namespace: the client's end is that of its handles") {
  Spaces spaces;
  Client a = spaces.client->with_namespace("a");
  InterProcessMutex mutex{a, "/lock"};
  const Lease lease = spaces.acquire(mutex);
  Outcome<Lease> waits;
  mutex.async_acquire(waits.handler());
  spaces.world.settle();
  a.close();
  CHECK(spaces.client->unusable() == Errc::closed);
  REQUIRE(spaces.world.run_until_arrived(waits));
  CHECK(waits.error() == Errc::closed);
  CHECK(spaces.world.run_until([&] { return lease.state() == LeaseState::lost; }));
  CHECK(spaces.create(a, "/n").error() == Errc::closed);
}

TEST_CASE("namespace: a handle outlives its client, and does nothing then") {
  Spaces spaces;
  Client a = spaces.client->with_namespace("a");
  spaces.client.reset();
  const auto failed = spaces.create(a, "/n");
  CHECK(failed.error() == Errc::closed);
}

TEST_CASE("namespace: two of a client are one ensemble, and one session") {
  Spaces spaces;
  const Client a = spaces.client->with_namespace("a");
  const Client b = spaces.client->with_namespace("b");
  CHECK_THROWS_AS((QuorumLock{{*spaces.client, a, b}, "/quorum"}), Error);
  // The same node by two paths would wait for itself.
  InterProcessMutex outer{*spaces.client, "/a/lock"};
  InterProcessMutex inner{a, "/lock"};
  CHECK_THROWS_AS((InterProcessMultiLock{{outer, inner}}), Error);
  InterProcessMutex other{b, "/lock"};
  InterProcessMultiLock both{{inner, other}};
  auto all = run<LeaseGroup>(spaces.world, [&](auto done) { both.async_acquire(done); });
  REQUIRE(all.arrived());
  CHECK_FALSE(all.error());
  CHECK(spaces.world.ensemble.children("/a/lock").size() == 1);
  CHECK(spaces.world.ensemble.children("/b/lock").size() == 1);
  all.result().release();
  CHECK(spaces.world.run_until([&] { return spaces.world.ensemble.children("/b/lock").empty(); }));
}

}  // namespace
}  // namespace custodian::tests::namespace_test
