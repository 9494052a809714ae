#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <mutex>
#include <optional>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::lease_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

using testing::Direction;
using testing::FaultProxy;
using testing::TestingServerOptions;

constexpr auto tick = 200ms;
constexpr auto session_timeout = 1500ms;

ClientOptions short_options(std::string servers) {
  ClientOptions options = options_for(std::move(servers));
  options.session_timeout = session_timeout;
  options.touch_interval = tick * 3 / 4;
  options.connect_timeout = 300ms;
  return options;
}

/// The time of an event, once it has happened.
class Moment {
 public:
  void now() {
    const std::lock_guard lock{mutex_};
    if (!at_) at_ = BootClock::now();
  }
  [[nodiscard]] std::optional<BootClock::time_point> at() const {
    const std::lock_guard lock{mutex_};
    return at_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<BootClock::time_point> at_;
};

/// A holder that connects through a proxy, and a waiter that connects directly.
struct CutOff {
  explicit CutOff(LeaseOptions terms = {})
      : server{TestingServerOptions{.tick_time = tick, .min_session_timeout = 500ms}},
        proxy{server.endpoint()},
        holder{short_options(proxy.connect_string())},
        waiter{short_options(server.connect_string())},
        mutex{holder, "/lock", {.lease = terms}},
        waiters_mutex{waiter, "/lock"},
        lease{mutex.acquire()} {}

  [[nodiscard]] std::future<std::tuple<error_code, Lease>> waiter_queues() {
    const auto waits = std::make_shared<std::promise<void>>();
    AcquireOptions options;
    options.on_position = [waits](auto&&...) { waits->set_value(); };
    auto granted = begun<Lease>([&](auto done) {
      waiters_mutex.async_acquire(options, [this, done](error_code error, Lease taken) {
        granted_at.now();
        done(error, std::move(taken));
      });
    });
    REQUIRE(waits->get_future().wait_for(patience) == std::future_status::ready);
    return granted;
  }

  Server server;
  FaultProxy proxy;
  Client holder;
  Client waiter;
  InterProcessMutex mutex;
  InterProcessMutex waiters_mutex;
  Lease lease;
  Moment granted_at;
};

TEST_CASE("a holder that is cut off is told of its loss before the next one holds") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const Direction direction = GENERATE(Direction::both, Direction::to_server, Direction::to_client);
  CutOff cut;
  auto granted = cut.waiter_queues();
  Moment lost;
  const std::stop_callback on_lost{cut.lease.lost(), [&] { lost.now(); }};
  cut.proxy.hold_back(direction);
  REQUIRE(granted.wait_for(patience) == std::future_status::ready);
  auto [error, next] = granted.get();
  REQUIRE_FALSE(error);
  REQUIRE(lost.at());
  CHECK(*lost.at() < *cut.granted_at.at());
  CHECK(cut.lease.loss_reason() == LossReason::lease_expired);
  CHECK(next.token() > cut.lease.token());

  // After the network is back the lease stays lost, and the client serves again.
  cut.proxy.heal();
  cut.holder.wait_connected({.deadline = patience});
  CHECK(cut.lease.state() == LeaseState::lost);
  cut.holder.create("/register", "new");
  CHECK(error_of([&] {
          cut.holder.commit({cut.lease.check(), set("/register", "stale")});
        }) == ServerErrc::no_node);
  cut.lease.release();
  next.release();
  cut.lease = cut.mutex.acquire();
  CHECK(cut.lease.state() == LeaseState::held);
}

TEST_CASE("a guarded write tells a lock that is gone from a node that is missing") {
  TestClient client{"guarded"};
  InterProcessMutex mutex{*client, "/lock"};
  const Lease lease = mutex.acquire();
  const auto refused_at = [&] {
    try {
      client->commit({lease.check(), set("/register", "1")});
    } catch (const Error& error) {
      CHECK(error.code() == ServerErrc::no_node);
      return error.path();
    }
    return std::string{"nowhere"};
  };
  CHECK(refused_at() == "/register");
  client->create("/register");
  CHECK(refused_at() == "nowhere");
  client->remove(lease.node());
  CHECK(refused_at() == lease.node());
}

TEST_CASE("a cut that is shorter than the lease costs nothing") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  CutOff cut;
  const std::int64_t session = cut.holder.session().id;
  std::mutex mutex;
  std::vector<LeaseState> told;
  const Subscription listening = cut.lease.on_state([&](LeaseState state) {
    const std::lock_guard lock{mutex};
    told.push_back(state);
  });
  cut.proxy.cut(testing::Ending::reset);
  CHECK(eventually([&] {
    const std::lock_guard lock{mutex};
    return told.size() >= 2 && told.back() == LeaseState::held;
  }));
  CHECK(cut.lease.state() == LeaseState::held);
  CHECK(cut.holder.session().id == session);
  CHECK_FALSE(cut.lease.lost().stop_requested());
  const std::lock_guard lock{mutex};
  CHECK(told.front() == LeaseState::suspended);
}

TEST_CASE("a cautious holder is told as soon as its connection fails") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  CutOff cut{{.loss_policy = LossPolicy::on_suspended}};
  cut.proxy.cut();
  CHECK(eventually([&] { return cut.lease.lost().stop_requested(); }));
  CHECK(cut.lease.loss_reason() == LossReason::suspended);
}

TEST_CASE("a server that falls silent suspends a lease, and a longer silence loses it") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  CutOff cut;
  cut.server.pause();
  CHECK(eventually([&] { return cut.lease.state() == LeaseState::suspended; }));
  CHECK(eventually([&] { return cut.lease.lost().stop_requested(); }));
  cut.server.resume();
  cut.lease.release();
  cut.lease = cut.mutex.acquire();
  CHECK(cut.lease.state() == LeaseState::held);
}

TEST_CASE("an expired session loses its leases") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  CutOff cut;
  const SessionInfo session = cut.holder.session();
  cut.server.expire_session(session.id, session.password);
  CHECK(eventually([&] { return cut.lease.lost().stop_requested(); }));
  CHECK(cut.lease.state() == LeaseState::lost);
}

TEST_CASE("a holder whose node an operator deletes is told") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  CutOff cut;
  cut.waiter.remove(cut.lease.node());
  CHECK(eventually([&] { return cut.lease.lost().stop_requested(); }));
  CHECK(cut.lease.loss_reason() == LossReason::node_deleted);
  CHECK(error_of([&] { cut.lease.assert_held(); }) == Errc::lock_lost);
}

TEST_CASE("a waiter whose node an operator deletes is told while it waits") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  CutOff cut;
  auto granted = cut.waiter_queues();
  const auto queue = cut.mutex.participants();
  REQUIRE(queue.size() == 2);
  cut.holder.remove(queue[1].node);
  REQUIRE(granted.wait_for(patience) == std::future_status::ready);
  CHECK(std::get<0>(granted.get()) == Errc::node_deleted);
  CHECK(cut.lease.state() == LeaseState::held);
}

TEST_CASE("a lease with a maximum time ends, and the next one holds") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  CutOff cut{{.hold_at_most = 700ms}};
  auto granted = cut.waiter_queues();
  Moment lost;
  const std::stop_callback on_lost{cut.lease.lost(), [&] { lost.now(); }};
  REQUIRE(granted.wait_for(patience) == std::future_status::ready);
  CHECK(cut.lease.loss_reason() == LossReason::held_too_long);
  REQUIRE(lost.at());
  CHECK(*lost.at() < *cut.granted_at.at());
}

TEST_CASE("to assert that a lease is held asks the servers, and waits for them") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  CutOff cut;
  CHECK_FALSE(error_of([&] { cut.lease.assert_held(); }));
  CHECK(error_of([] { Lease{}.assert_held(); }) == Errc::lock_lost);
}

TEST_CASE("a coroutine works until its lease is lost") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  CutOff cut;
  auto lost = begun<>([&](auto done) { cut.lease.async_wait_lost(done); });
  auto changed =
      begun<LeaseState>([&](auto done) { cut.lease.async_wait_state(LeaseState::held, done); });
  cut.proxy.hold_back();
  REQUIRE(changed.wait_for(patience) == std::future_status::ready);
  CHECK(std::get<1>(changed.get()) == LeaseState::suspended);
  REQUIRE(lost.wait_for(patience) == std::future_status::ready);
  CHECK_FALSE(std::get<0>(lost.get()));
}

TEST_CASE("a lease outlasts its holder's idleness, and a waiter's patience costs it nothing") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  CutOff cut;
  auto granted = cut.waiter_queues();
  Client idle{short_options(cut.server.connect_string())};
  idle.wait_connected();
  // The lock is held for ten session timeouts, without a fault.
  for (const Deadline end{10 * session_timeout}; !end.passed();) {
    // On a busy machine the lease may be suspended for a moment.
    REQUIRE(cut.lease.state() != LeaseState::lost);
    std::this_thread::sleep_for(10ms);
  }
  cut.lease.release();
  REQUIRE(granted.wait_for(patience) == std::future_status::ready);
  auto [error, after_waiting] = granted.get();
  REQUIRE_FALSE(error);
  CHECK(after_waiting.remaining() >= session_timeout / 3);
  InterProcessMutex other{idle, "/other"};
  const Lease after_idling = other.acquire();
  CHECK(after_idling.remaining() >= session_timeout / 3);
  for (const Deadline end{2 * session_timeout}; !end.passed();) {
    REQUIRE(after_waiting.state() != LeaseState::lost);
    REQUIRE(after_idling.state() != LeaseState::lost);
    std::this_thread::sleep_for(10ms);
  }
  CHECK_FALSE(cut.lease.lost().stop_requested());
}

TEST_CASE("locks are refused on a session that the servers made too short") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server{TestingServerOptions{
      .tick_time = tick, .min_session_timeout = 200ms, .max_session_timeout = 400ms}};
  Client client{short_options(server.connect_string())};
  InterProcessMutex mutex{client, "/lock"};
  CHECK(error_of([&] { static_cast<void>(mutex.acquire()); }) == Errc::session_timeout_too_short);
  CHECK(eventually([&] { return names_below(client, "/lock").empty(); }));
}

TEST_CASE("a session timeout that is too short for locks is refused, with the rule") {
  ClientOptions options = options_for("127.0.0.1:1");
  options.session_timeout = 4s;
  const std::string message = message_of([&] { Client{options}; });
  CHECK(message.find("session_timeout") != std::string::npos);
  CHECK(message.find("touch_interval") != std::string::npos);
}

TEST_CASE("five hundred leases are kept by servers that accept small requests only") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  constexpr std::size_t limit = 16'384;
  const Server server{TestingServerOptions{
      .tick_time = tick, .min_session_timeout = 500ms, .jute_max_buffer = limit}};
  ClientOptions options = short_options(server.connect_string());
  options.session_timeout = 2 * session_timeout;
  options.max_request_size = limit;
  Client client{options};
  client.wait_connected();
  const std::uint64_t connection = client.session().connection;
  const std::string folder = "/" + std::string(40, 'p') + "/";
  std::vector<std::unique_ptr<InterProcessMutex>> mutexes;
  std::vector<std::future<std::tuple<error_code, Lease>>> acquires;
  for (int i = 0; i != 500; ++i) {
    mutexes.push_back(std::make_unique<InterProcessMutex>(client, folder + std::to_string(i)));
    acquires.push_back(begun<Lease>([&](auto done) { mutexes.back()->async_acquire(done); }));
  }
  std::vector<Lease> leases;
  for (auto& each : acquires) {
    REQUIRE(each.wait_for(patience) == std::future_status::ready);
    auto [error, lease] = each.get();
    REQUIRE_FALSE(error);
    leases.push_back(std::move(lease));
  }
  // A server that refused a beat would have closed the connection at once, and the leases would be
  // lost by now.
  const Deadline then{options.session_timeout};
  REQUIRE(eventually([&] { return then.passed(); }));
  CHECK(client.session().connection == connection);
  for (const Lease& each : leases) CHECK(each.state() == LeaseState::held);
}

TEST_CASE("an acquire that was answered too late says that the answer is wanting") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  CutOff cut;
  InterProcessMutex free{cut.holder, "/free"};
  cut.proxy.hold_back(Direction::to_client);
  const AcquireResult late = free.try_acquire_for(100ms);
  CHECK((late.reason == NotAcquired::no_answer || late.reason == NotAcquired::no_connection));
  CHECK(late.explain().find("connect") != std::string::npos);
  cut.proxy.heal();
  CHECK(eventually([&] { return names_below(cut.waiter, "/free").empty(); }));
}

}  // namespace
}  // namespace custodian::tests::lease_test
