#include "custodian/locks/with_lock.hpp"

#include <boost/asio/error.hpp>
#include <functional>
#include <mutex>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/path_of.hpp"
#include "integration/locks/with_lock_calls.hpp"
#include "support/acquired.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::with_lock_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using with_lock_calls::busy;
using with_lock_calls::error_of_call;
using with_lock_calls::Failure;
using with_lock_calls::nowhere;

TEST_CASE("a function runs under the lock, and gives its value or none") {
  TestClient client{"runs"};
  InterProcessMutex mutex{*client, "/lock"};
  const auto call = with_lock(*client, "/lock", {.wait = patience}, [&](const Lease& lease) {
    CHECK(lease.state() == LeaseState::held);
    CHECK_FALSE(acquired(mutex.try_acquire()));
    return std::string{"done"};
  });
  CHECK(call);
  CHECK(call.under == Under::lock);
  CHECK(call.value == "done");
  CHECK(call.loss == LossReason::none);
  bool ran = false;
  const auto nothing = with_lock(*client, "/lock", {.wait = patience}, [&] { ran = true; });
  CHECK(nothing);
  CHECK(ran);
  // Both calls have released the lock.
  CHECK(acquired(mutex.try_acquire_for(patience)));
  const auto moved =
      with_lock(*client, "/lock", {.wait = patience}, [] { return std::make_unique<int>(3); });
  CHECK(**moved.value == 3);
}

TEST_CASE("a function that throws releases the lock, and its exception passes through") {
  TestClient client{"throws"};
  InterProcessMutex mutex{*client, "/lock"};
  const auto failing = [](const Lease&) -> int { throw Failure{}; };
  CHECK_THROWS_AS(static_cast<void>(with_lock(*client, "/lock", {.wait = patience}, failing)),
                  Failure);
  CHECK(acquired(mutex.try_acquire_for(patience)));
}

TEST_CASE("busy: thrown with the name of who is ahead, or skipped, and never under a fallback") {
  TestClient client{"busy"};
  InterProcessMutex mutex{*client, "/lock", {.identity = "somebody"}};
  const Lease held = mutex.acquire();
  std::mutex fallback;
  int ran = 0;
  const auto run = [&] { ++ran; };
  for (const auto wait : {0ns, std::chrono::nanoseconds{2s}}) {
    WithLockOptions options{.wait = wait, .fallback = fallback};
    CHECK(error_of_call([&] { return with_lock(*client, "/lock", options, run); }) == busy);
    CHECK(message_of([&] {
            static_cast<void>(with_lock(*client, "/lock", options, run));
          }).find("somebody is ahead") != std::string::npos);
    options.when_busy = Otherwise::skip;
    const auto call = with_lock(*client, "/lock", options, run);
    CHECK_FALSE(call);
    CHECK(call.under == Under::nothing);
    REQUIRE(call.blocked_by);
    CHECK(call.blocked_by->identity == "somebody");
  }
  CHECK(ran == 0);
  CHECK(eventually([&] { return names_below(*client, "/lock").size() == 1; }));
}

TEST_CASE("a wait that is shorter than the server's answer takes ends busy, not away") {
  TestClient client{"slow"};
  InterProcessMutex mutex{*client, "/lock"};
  const Lease held = mutex.acquire();
  std::mutex fallback;
  for (int i = 0; i < 10; ++i) {
    CHECK(error_of_call([&] {
            return with_lock(*client, "/lock", {.wait = 1us, .fallback = fallback},
                             [] { FAIL("two are in"); });
          }) == busy);
  }
  CHECK(eventually([&] { return mutex.queue_length() == 1; }));
}

TEST_CASE("a call inside another on the same path is busy with itself") {
  TestClient client{"nested"};
  const auto call = with_lock(*client, "/lock", {.wait = patience}, [&] {
    const auto inner = with_lock(*client, "/lock", {.wait = 0s, .when_busy = Otherwise::skip},
                                 [] { FAIL("two are in"); });
    return static_cast<bool>(inner);
  });
  CHECK(call.value == false);
}

TEST_CASE("a stop, or a client that closes, while a fallback is waited for: it is let go of") {
  struct Slow {
    std::function<void()> meanwhile;
    int unlocked = 0;
    void lock() const { meanwhile(); }
    void unlock() { ++unlocked; }
  };
  Client away{options_for(nowhere)};
  std::stop_source stop;
  const auto error_under = [&](Slow& slow) {
    const WithLockOptions options{.wait = 0s, .fallback = slow, .stop = stop.get_token()};
    return error_of_call(
        [&] { return with_lock(away, "/lock", options, [] { FAIL("it runs"); }); });
  };
  Slow stopped{[&] { stop.request_stop(); }};
  CHECK(error_under(stopped) == asio::error::operation_aborted);
  CHECK(stopped.unlocked == 1);
  stop = std::stop_source{};
  Slow closed{[&] { away.close(); }};
  CHECK(error_under(closed) == Errc::closed);
  CHECK(closed.unlocked == 1);
}

TEST_CASE("a fallback of its own for each path is locked and unlocked under its name") {
  struct Named {
    std::vector<std::string>& log;
    std::string path;
    void lock() const { log.push_back("lock " + path); }
    void unlock() const { log.push_back("unlock " + path); }
  };
  std::vector<std::string> log;
  const Fallback fallback = Fallback::by_path([&](const std::string& path) {
    return std::make_shared<Named>(Named{log, path});
  });
  Client away{options_for(nowhere)};
  const auto call =
      with_lock(away, "/a", {.wait = 0s, .fallback = fallback}, [&] { log.emplace_back("run"); });
  CHECK(call.under == Under::fallback);
  CHECK(log == std::vector<std::string>{"lock /a", "run", "unlock /a"});
}

TEST_CASE("a fallback that is null is refused") {
  std::shared_ptr<std::mutex> null;
  CHECK(error_of([&] { static_cast<void>(Fallback{null}); }) == Errc::invalid_argument);
  Client away{options_for(nowhere)};
  const WithLockOptions options{
      .wait = 0s, .fallback = Fallback::by_path([&](const auto&) { return decltype(null){}; })};
  CHECK(error_of_call([&] { return with_lock(away, "/a", options, [] { FAIL("it runs"); }); }) ==
        Errc::invalid_argument);
}

TEST_CASE("a fallback serves while the server is down, and the lock again when it is back") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  TestClient client{"outage", server.connect_string()};
  client->wait_connected();
  std::mutex fallback;
  const WithLockOptions options{.wait = patience, .connection_wait = 100ms, .fallback = fallback};
  const auto under = [&] { return with_lock(*client, "/lock", options, [] {}).under; };
  CHECK(under() == Under::lock);
  server.stop();
  REQUIRE(eventually([&] { return !is_connected(client->connection_state()); }));
  CHECK(under() == Under::fallback);
  server.start();
  CHECK(eventually([&] { return under() == Under::lock; }));
}

TEST_CASE("who was seen ahead is still in when the server goes down: busy, not away") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  TestClient client{"seen", server.connect_string()};
  InterProcessMutex mutex{*client, "/lock"};
  const Lease held = mutex.acquire();
  std::mutex fallback;
  auto waiting = std::async(std::launch::async, [&] {
    return with_lock(*client, "/lock",
                     {.wait = 5s, .when_busy = Otherwise::skip, .fallback = fallback},
                     [] { FAIL("two are in"); });
  });
  // The waiter knows its predecessor when it has a node and all its requests are answered.
  REQUIRE(eventually([&] { return mutex.queue_length() == 2; }));
  REQUIRE(eventually([&] { return client->load().operations == 0; }));
  server.stop();
  const auto call = waiting.get();
  CHECK_FALSE(call);
  CHECK(call.blocked_by);
  server.start();
}

TEST_CASE("a lock that is held too long is lost, and that is thrown or told") {
  TestClient client{"too-long"};
  const auto too_long = [](const Lease& lease) {
    CHECK(eventually([&] { return lease.lost().stop_requested(); }));
    return 7;
  };
  WithLockOptions options{.wait = patience, .hold_at_most = 20ms};
  CHECK(error_of_call([&] { return with_lock(*client, "/lock", options, too_long); }) ==
        Errc::lock_lost);
  CHECK(message_of([&] {
          static_cast<void>(with_lock(*client, "/lock", options, too_long));
        }).find(to_string(LossReason::held_too_long)) != std::string::npos);
  options.when_lost = WhenLost::is_reported;
  const auto call = with_lock(*client, "/lock", options, too_long);
  CHECK(call.under == Under::lock);
  CHECK(call.value == 7);
  CHECK(call.loss == LossReason::held_too_long);
  CHECK(error_of_call([&] { return with_lock(*client, "/lock", {.hold_at_most = 0s}, [] {}); }) ==
        Errc::invalid_argument);
  CHECK(eventually([&] { return names_below(*client, "/lock").empty(); }));
}

TEST_CASE("a lock that is lost while the function runs is told, unless the function throws") {
  TestClient client{"lost"};
  const auto deleted = [&](const Lease& lease) {
    client->remove("/lock/" + names_below(*client, "/lock").at(0));
    CHECK(eventually([&] { return lease.state() == LeaseState::lost; }));
  };
  WithLockOptions options{.wait = patience};
  CHECK(error_of_call([&] { return with_lock(*client, "/lock", options, deleted); }) ==
        Errc::lock_lost);
  options.when_lost = WhenLost::is_reported;
  CHECK(with_lock(*client, "/lock", options, deleted).loss == LossReason::node_deleted);
  options.when_lost = WhenLost::fail;
  const auto deleted_and_failing = [&](const Lease& lease) {
    deleted(lease);
    throw Failure{};
  };
  CHECK_THROWS_AS(static_cast<void>(with_lock(*client, "/lock", options, deleted_and_failing)),
                  Failure);
}

TEST_CASE("a client that is closed is not away: nothing runs") {
  TestClient client{"closed"};
  std::mutex fallback;
  client->close();
  CHECK(error_of_call([&] {
          return with_lock(
              *client, "/lock",
              {.when_busy = Otherwise::skip, .when_away = Otherwise::skip, .fallback = fallback},
              [] { FAIL("it runs"); });
        }) == Errc::closed);
}

TEST_CASE("a wait is stopped by a stop token, and leaves no node") {
  TestClient client{"stopped"};
  InterProcessMutex mutex{*client, "/lock"};
  const Lease held = mutex.acquire();
  std::stop_source stop;
  auto waiting = std::async(std::launch::async, [&] {
    return error_of_call([&] {
      return with_lock(*client, "/lock", {.wait = patience, .stop = stop.get_token()},
                       [] { FAIL("two are in"); });
    });
  });
  REQUIRE(eventually([&] { return mutex.queue_length() == 2; }));
  stop.request_stop();
  CHECK(waiting.get() == asio::error::operation_aborted);
  CHECK(eventually([&] { return mutex.queue_length() == 1; }));
}

TEST_CASE("readers run together, and a writer alone") {
  TestClient client{"kinds"};
  client->wait_connected();
  const auto under = [&](LockKind kind, auto function) {
    return with_lock(*client, "/lock", {.wait = 0s, .when_busy = Otherwise::skip, .kind = kind},
                     function);
  };
  const auto call = under(LockKind::read, [&] {
    CHECK(under(LockKind::read, [] {}));
    return static_cast<bool>(under(LockKind::write, [] {}));
  });
  CHECK(call.value == false);
  CHECK(eventually([&] { return names_below(*client, "/lock").empty(); }));
  CHECK(with_lock(*client, "/lock", {.wait = patience, .kind = LockKind::write}, [&] {
          return !under(LockKind::read, [] {});
        }).value == true);
}

TEST_CASE("a path is built from the call's arguments, and no argument leads elsewhere") {
  TestClient client{"arguments"};
  std::vector<std::string> nodes;
  const auto sell = locked(
      *client, [](const std::string& customer, int) { return path_of("/orders/{}", customer); },
      {.wait = patience},
      [&](const Lease& lease, const std::string&, int pieces) {
        nodes.push_back(lease.node());
        return pieces;
      });
  CHECK(sell("anna", 3).value == 3);
  const std::function<LockedCall<int>(std::string, int)> copy = sell;
  CHECK(copy("../admin/b", 4).value == 4);
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0].find("/orders/anna/_c_") != std::string::npos);
  CHECK(nodes[1].find("/orders/..%2Fadmin%2Fb/_c_") != std::string::npos);
  CHECK_FALSE(client->exists("/admin"));
  CHECK(error_of_call([&] { return sell("", 1); }) == Errc::invalid_argument);
  CHECK(nodes.size() == 2);

  // A call within a call has another path, and so another lock.
  const auto by_order = [](int order) { return path_of("/orders/{}", order); };
  const auto inner = locked(*client, by_order, {.wait = 0s}, [](int order) { return order; });
  const auto outer =
      locked(*client, by_order, {.wait = 0s}, [&](int order) { return *inner(order + 1).value; });
  CHECK(outer(1).value == 2);
}

}  // namespace
}  // namespace custodian::tests::with_lock_test
