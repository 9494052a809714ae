// A client and its leases in a forked child: every call fails, and nothing is done.

#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/ending_world.hpp"
#include "scripted/forked_child.hpp"
#include "support/catch.hpp"

namespace custodian::tests::forked_client_test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("fork: a client's calls fail in the child, and do nothing") {
  EndingWorld world;
  int lines = 0;
  ClientOptions options = world.options("mine");
  options.log = [&](LogLevel, std::string_view) { ++lines; };
  auto client = world.client(options);
  world.make("/n");
  auto watched = run<GetResult, Watch>(
      world, [&](auto done) { client->async_get_and_watch("/n", {}, std::move(done)); });
  REQUIRE_FALSE(watched.error());
  const std::string wrong = in_forked_child(world, {*client}, [&](ChildReport& report) {
    lines = 0;
    report.expect(client->unusable() == Errc::forked, "unusable() is forked");
    report.throws("get", [&] { return client->get("/n"); });
    report.throws("close with a deadline", [&] { return client->close(Deadline{1s}); });
    report.throws("with_namespace", [&] { return client->with_namespace("/below"); });
    report.throws("set_credentials", [&] { return client->set_credentials({}); });
    report.fails<GetResult>("async_get", [&](auto done) { client->async_get("/n", {}, done); });
    report.fails<Created>("async_create",
                          [&](auto done) { client->async_create("/m", "", {}, done); });
    report.fails<Upserted>("async_upsert",
                           [&](auto done) { client->async_upsert("/m", "", {}, done); });
    report.fails<ConnectionState>("async_wait_connection_state", [&](auto done) {
      client->async_wait_connection_state(ConnectionState::lost, done);
    });
    report.fails<bool>("async_close", [&](auto done) { client->async_close(Deadline{1s}, done); });
    report.fails<WatchEventType>("a watch's async_wait",
                                 [&](auto done) { watched.result<2>().async_wait(done); });
    client->remove_in_background("/n");
    client->release_kept_locks();
    client->log(LogLevel::error, "nobody reads this");
    client->close();
    report.expect(client->unusable() == Errc::forked, "the client is not closed");
    watched.result<2>() = Watch{};
    client.reset();
    world.settle();
    report.expect(lines == 0, "nothing is logged");
  });
  CHECK(wrong == "");
  CHECK(world.ensemble.exists("/n"));
  watched.result<2>() = Watch{};
  CHECK(world.end(client));
}

TEST_CASE("fork: a lease's calls fail in the child, and its end releases nothing") {
  EndingWorld world;
  auto client = world.client("mine");
  std::optional<InterProcessMutex> mutex{std::in_place, *client, "/lock"};
  auto acquired = run<Lease>(world, [&](auto done) { mutex->async_acquire(done); });
  REQUIRE_FALSE(acquired.error());
  Lease& lease = acquired.result();
  int calls = 0;
  Subscription states = lease.on_state([&](LeaseState) { ++calls; });
  const std::string wrong = in_forked_child(world, {*client}, [&](ChildReport& report) {
    report.throws("assert_held", [&] { return lease.assert_held(); });
    report.throws("set_identity", [&] { return lease.set_identity("child"); });
    report.fails<>("async_wait_lost", [&](auto done) { lease.async_wait_lost(done); });
    report.fails<LeaseState>("async_wait_state",
                             [&](auto done) { lease.async_wait_state(LeaseState::held, done); });
    report.fails<>("async_assert_held", [&](auto done) { lease.async_assert_held(done); });
    report.fails<>("async_set_identity",
                   [&](auto done) { lease.async_set_identity("child", done); });
    const Subscription requests = lease.make_revocable([&] { ++calls; });
    const std::stop_token lost = lease.lost();
    lease.release();
    world.settle();
    report.expect(!lost.stop_requested(), "the lease is not lost");
    report.expect(calls == 0, "no listener is called");
  });
  CHECK(wrong == "");
  CHECK(lease.state() == LeaseState::held);
  lease.release();
  states = {};
  mutex.reset();
  CHECK(world.end(client));
}

TEST_CASE("fork: a lock that has outlived its client leaves the client's internals as they are") {
  EndingWorld world;
  bool is_destroyed = false;
  ClientOptions options = world.options("mine");
  // The internals own the log's function.
  options.log = [end = std::shared_ptr<void>{nullptr, [&](void*) { is_destroyed = true; }}](
                    LogLevel, std::string_view) {};
  auto client = world.client(std::move(options));
  std::optional<InterProcessMutex> mutex{std::in_place, *client, "/lock"};
  const std::weak_ptr<detail::ClientCore> core = client->core();
  client.reset();
  REQUIRE(world.run_until([&] { return world.ensemble.sessions().empty(); }));
  world.settle();
  const std::string wrong = in_forked_child(world, {}, [&](ChildReport& report) {
    mutex.reset();
    report.expect(!is_destroyed, "the internals are left");
  });
  CHECK(wrong == "");
  CHECK_FALSE(is_destroyed);
  mutex.reset();
  CHECK(world.run_until([&] { return core.expired(); }));
  CHECK(is_destroyed);
}

}  // namespace
}  // namespace custodian::tests::forked_client_test
