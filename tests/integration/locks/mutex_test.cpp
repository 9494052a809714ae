#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <mutex>

#include "custodian/locks/inter_process_mutex.hpp"
#include "support/acquired.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::mutex_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

TEST_CASE("a lease holds the lock until it is released, and then the next one does") {
  TestClient client{"lease"};
  InterProcessMutex mutex{*client, "/lock"};
  Lease lease = mutex.acquire();
  CHECK(lease.state() == LeaseState::held);
  CHECK(lease.token().value > 0);
  CHECK(lease.node().starts_with("/lock/_c_"));
  CHECK_FALSE(acquired(mutex.try_acquire()));
  const FencingToken first = lease.token();
  lease.release();
  CHECK(lease.state() == LeaseState::released);
  const Lease next = mutex.acquire();
  CHECK(next.token() > first);
}

TEST_CASE("a timed acquire that comes late says who is in the way") {
  TestClient client{"late"};
  InterProcessMutex holder{*client, "/lock", {.identity = "the holder"}};
  const Lease lease = holder.acquire();
  InterProcessMutex mutex{*client, "/lock"};
  // The try is repeated with longer limits, since an acquire whose limit passes before it has read
  // the queue names no holder.
  AcquireResult result;
  for (std::chrono::milliseconds wait{50}; !result.blocked_by && wait < patience; wait *= 2) {
    result = mutex.try_acquire_for(wait);
  }
  CHECK_FALSE(result);
  REQUIRE(result.blocked_by);
  CHECK(result.blocked_by->identity == "the holder");
  CHECK(result.blocked_by->node == lease.node());
  CHECK(result.blocked_by->token == lease.token());
  CHECK(result.blocked_by->session == client->session().id);
  CHECK(result.blocked_by->own);
  CHECK(result.reason == NotAcquired::blocked);
  CHECK(result.explain().starts_with("the holder (node /lock/"));
  CHECK(result.explain().find("another acquire of this client") != std::string::npos);
  CHECK(eventually([&] { return names_below(*client, "/lock").size() == 1; }));
}

TEST_CASE("without time to wait it is a try") {
  TestClient client{"no-time"};
  client->wait_connected();
  InterProcessMutex mutex{*client, "/lock"};
  const AcquireResult free = mutex.try_acquire_for(0s);
  CHECK(free);
  const AcquireResult held = mutex.try_acquire_until(Deadline::Clock::now() - 1s);
  CHECK_FALSE(held);
  REQUIRE(held.blocked_by);
  CHECK(held.blocked_by->node == free.lease.node());
  InterProcessMutex another{*client, "/another"};
  CHECK(another.try_lock_for(0s));
  another.unlock();
}

TEST_CASE("std::scoped_lock and std::unique_lock lock it") {
  TestClient client{"standard"};
  InterProcessMutex mutex{*client, "/lock"};
  {
    const std::scoped_lock guard{mutex};
    CHECK(mutex.is_held_by_this_thread());
  }
  std::unique_lock timed{mutex, 10s};
  CHECK(timed.owns_lock());
  timed.unlock();
  std::unique_lock tried{mutex, std::try_to_lock};
  CHECK(tried.owns_lock());
}

TEST_CASE("a thread may lock again what it has locked, and unlocks as often") {
  TestClient client{"reentrant"};
  InterProcessMutex mutex{*client, "/lock"};
  mutex.lock();
  mutex.lock();
  CHECK(mutex.try_lock());
  CHECK(mutex.hold_count() == 3);
  CHECK(mutex.queue_length() == 1);
  mutex.unlock();
  mutex.unlock();
  CHECK(mutex.is_held_by_this_thread());
  CHECK_FALSE(std::async(std::launch::async, [&] { return mutex.try_lock(); }).get());
  mutex.unlock();
  CHECK_FALSE(mutex.is_held_by_this_thread());
  CHECK(eventually([&] { return mutex.queue_length() == 0; }));
}

TEST_CASE("a thread that does not hold it may not unlock it") {
  TestClient client{"owner"};
  InterProcessMutex mutex{*client, "/lock"};
  const auto not_permitted = boost::system::errc::operation_not_permitted;
  CHECK(error_of([&] { mutex.unlock(); }) == not_permitted);
  const std::scoped_lock guard{mutex};
  CHECK(std::async(std::launch::async, [&] { return error_of([&] { mutex.unlock(); }); }).get() ==
        not_permitted);
}

TEST_CASE("an acquire that would wait for its own thread is refused") {
  TestClient client{"deadlock"};
  InterProcessMutex mutex{*client, "/lock"};
  const std::scoped_lock guard{mutex};
  CHECK(error_of([&] { static_cast<void>(mutex.acquire()); }) ==
        boost::system::errc::resource_deadlock_would_occur);
  CHECK(mutex.current_lease().state() == LeaseState::held);
}

TEST_CASE("a lease re-enters by name, and the last one releases") {
  TestClient client{"re-entry"};
  InterProcessMutex mutex{*client, "/lock"};
  InterProcessMutex other{*client, "/kcol"};  // a path of the same length
  std::optional<Lease> first{mutex.acquire()};
  const Lease foreign = other.acquire();
  std::optional<Lease> second{mutex.acquire(*first)};
  CHECK(second->hold_count() == 2);
  CHECK(error_of([&] { static_cast<void>(mutex.acquire(foreign)); }) == Errc::invalid_argument);
  first.reset();
  CHECK_FALSE(acquired(mutex.try_acquire()));
  second.reset();
  CHECK(acquired(mutex.try_acquire_for(10s)));
}

asio::awaitable<void> add_one(InterProcessMutex* mutex, int* counter) {
  const Lease lease = co_await mutex->async_acquire(asio::use_awaitable);
  const int seen = *counter;
  asio::steady_timer pause{co_await asio::this_coro::executor, 1ms};
  co_await pause.async_wait(asio::use_awaitable);
  *counter = seen + 1;
}

TEST_CASE("coroutines take turns") {
  TestClient client{"coroutines"};
  InterProcessMutex mutex{*client, "/lock"};
  asio::io_context context;
  int counter = 0;
  int ended = 0;
  for (int i = 0; i < 20; ++i) {
    asio::co_spawn(context, add_one(&mutex, &counter), [&](std::exception_ptr failure) {
      if (!failure) ++ended;
    });
  }
  context.run();
  CHECK(ended == 20);
  CHECK(counter == 20);
}

TEST_CASE("waiters are served in the order in which they came") {
  TestClient client{"order"};
  InterProcessMutex mutex{*client, "/lock"};
  std::optional<Lease> lease{mutex.acquire()};
  std::mutex guard;
  std::vector<int> order;
  std::vector<std::future<std::tuple<error_code, Lease>>> waiters;
  for (int i = 0; i < 10; ++i) {
    waiters.push_back(begun<Lease>([&](auto done) {
      mutex.async_acquire([&, i, done](error_code error, Lease granted) mutable {
        {
          const std::lock_guard lock{guard};
          order.push_back(i);
        }
        granted.release();
        done(error, Lease{});
      });
    }));
    REQUIRE(eventually([&] { return mutex.queue_length() == static_cast<std::size_t>(i) + 2; }));
  }
  lease.reset();
  for (auto& waiter : waiters) {
    REQUIRE(waiter.wait_for(patience) == std::future_status::ready);
    CHECK_FALSE(std::get<0>(waiter.get()));
  }
  CHECK(order == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("a waiter hears its position and those who wait are seen in order") {
  TestClient client{"position"};
  InterProcessMutex holder{*client, "/lock", {.identity = "first"}};
  InterProcessMutex waiter{*client, "/lock", {.identity = "second"}};
  Lease lease = holder.acquire();
  std::promise<std::pair<std::size_t, std::string>> heard;
  std::once_flag once;
  AcquireOptions options;
  options.on_position = [&](std::size_t ahead, const Participant& nearest) {
    std::call_once(once, [&] { heard.set_value({ahead, nearest.identity}); });
  };
  auto waiting = begun<Lease>([&](auto done) { waiter.async_acquire(options, done); });
  CHECK(heard.get_future().get() == std::pair<std::size_t, std::string>{1, "first"});
  const auto participants = holder.participants();
  REQUIRE(participants.size() == 2);
  CHECK(participants[0].identity == "first");
  CHECK(participants[1].identity == "second");
  CHECK(participants[0].token < participants[1].token);
  CHECK(holder.async_participants({}, asio::use_future).get().size() == 2);
  CHECK(holder.async_queue_length({}, asio::use_future).get() == 2);
  lease.release();
  CHECK_FALSE(std::get<0>(waiting.get()));
}

TEST_CASE("a cancelled waiter leaves no node, by slot and by stop_token") {
  TestClient client{"cancelled"};
  InterProcessMutex mutex{*client, "/lock"};
  const Lease lease = mutex.acquire();
  asio::cancellation_signal signal;
  auto by_slot = begun<Lease>(
      [&](auto done) { mutex.async_acquire(asio::bind_cancellation_slot(signal.slot(), done)); });
  std::stop_source stop;
  auto by_token = std::async(std::launch::async, [&] {
    return error_of([&] { static_cast<void>(mutex.acquire(stop.get_token())); });
  });
  REQUIRE(eventually([&] { return mutex.queue_length() == 3; }));
  signal.emit(asio::cancellation_type::total);
  stop.request_stop();
  CHECK(std::get<0>(by_slot.get()) == asio::error::operation_aborted);
  CHECK(by_token.get() == asio::error::operation_aborted);
  CHECK(eventually([&] { return mutex.queue_length() == 1; }));
  CHECK(eventually([&] { return client->load().operations == 0; }));
}

TEST_CASE("a session that ends loses the lease, and its waiters queue again") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestClient client{"session-loss"};
  TestClient other{"unused"};
  InterProcessMutex mutex{*client, "/lock"};
  Lease lease = mutex.acquire();
  std::promise<void> requeued;
  AcquireOptions options;
  options.on_requeued = [&] { requeued.set_value(); };
  auto waiting = begun<Lease>([&](auto done) { mutex.async_acquire(options, done); });
  AcquireOptions failing{.requeue = RequeuePolicy::fail};
  auto ending = begun<Lease>([&](auto done) { mutex.async_acquire(failing, done); });
  REQUIRE(eventually([&] { return mutex.queue_length() == 3; }));
  const SessionInfo session = client->session();
  own_server().expire_session(session.id, session.password);
  auto heard = requeued.get_future();
  REQUIRE(heard.wait_for(patience) == std::future_status::ready);
  CHECK(std::get<0>(ending.get()) == Errc::session_lost);
  auto [error, granted] = waiting.get();
  CHECK_FALSE(error);
  CHECK(granted.state() == LeaseState::held);
  CHECK(lease.state() == LeaseState::lost);
  CHECK(error_of([&] { static_cast<void>(mutex.acquire(lease)); }) == Errc::lock_lost);
}

TEST_CASE("the standard face after a loss: unlock is quiet, locking again says so") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestClient client{"standard-loss"};
  InterProcessMutex mutex{*client, "/lock"};
  mutex.lock();
  const SessionInfo session = client->session();
  own_server().expire_session(session.id, session.password);
  REQUIRE(eventually([&] { return !mutex.is_held_by_this_thread(); }));
  {
    // A stop token that is taken after the loss reports it, too.
    const Lease lost = mutex.current_lease();
    CHECK(lost.state() == LeaseState::lost);
    CHECK(lost.token().value > 0);
    CHECK(eventually([&] { return lost.lost().stop_requested(); }));
  }
  CHECK(error_of([&] { mutex.lock(); }) == Errc::lock_lost);
  mutex.unlock();
  mutex.lock();
  CHECK(mutex.is_held_by_this_thread());
  mutex.unlock();
}

TEST_CASE("a waiter behind another of its client is told of its node's end when its turn comes") {
  TestClient client{"operator"};
  InterProcessMutex mutex{*client, "/lock"};
  Lease lease = mutex.acquire();
  auto waiting = begun<Lease>([&](auto done) { mutex.async_acquire(done); });
  REQUIRE(eventually([&] { return mutex.queue_length() == 2; }));
  client->remove(mutex.participants().at(1).node);
  lease.release();
  auto [error, granted] = waiting.get();
  if (error) {
    CHECK(error == Errc::node_deleted);
  } else {
    CHECK(eventually([&, &held = granted] { return held.lost().stop_requested(); }));
    CHECK(granted.loss_reason() == LossReason::node_deleted);
  }
  CHECK(eventually([&] { return mutex.queue_length() == 0; }));
}

TEST_CASE("a lock whose node may not be deleted is freed by the end of its session") {
  TestClient client{"forbidden"};
  using enum Permissions;
  client->create("/lock", "", {.acl = Acl{{.permissions = read | create}}});
  InterProcessMutex mutex{*client, "/lock"};
  Lease lease = mutex.acquire();
  const std::int64_t session = client->session().id;
  lease.release();
  Lease next = mutex.acquire();
  CHECK(next.state() == LeaseState::held);
  CHECK(client->session().id != session);
  next.release();
  CHECK(eventually([&] { return names_below(*client, "/lock").empty(); }));
}

TEST_CASE("foreign children take no part, and one without a number stops everybody") {
  TestClient client{"foreign"};
  client->create("/lock/readme", "", {.parents = Parents::created_as_containers});
  InterProcessMutex mutex{*client, "/lock"};
  CHECK(acquired(mutex.try_acquire()));
  client->create("/lock/x-lock-first");
  CHECK(error_of([&] { static_cast<void>(mutex.acquire()); }) == Errc::malformed_contender);
  CHECK(eventually([&] { return names_below(*client, "/lock").size() == 2; }));
}

TEST_CASE("the lock's path may vanish between two acquires") {
  TestClient client{"vanish"};
  InterProcessMutex mutex{*client, "/a/b/lock"};
  for (int i = 0; i < 3; ++i) {
    { const std::scoped_lock guard{mutex}; }
    REQUIRE(eventually([&] { return mutex.queue_length() == 0; }));
    client->remove("/a", {.missing = Missing::is_fine, .descendants = Descendants::are_removed});
  }
}

TEST_CASE("an acquire without a server ends as it was told to") {
  Client client{options_for("127.0.0.1:1")};
  InterProcessMutex mutex{client, "/lock"};
  CHECK(mutex.try_acquire().reason == NotAcquired::no_connection);
  CHECK(mutex.try_acquire_for(50ms).reason == NotAcquired::no_connection);
  CHECK_FALSE(mutex.try_lock());
  CHECK_FALSE(mutex.try_lock_for(50ms));
}

TEST_CASE("a closing client ends its waiters, and waits for its holders") {
  TestClient other{"drain"};
  ClientOptions options = options_for(connect_string());
  options.name_space = other.root();
  Client client{options};
  InterProcessMutex mutex{client, "/lock"};
  std::optional<Lease> lease{mutex.acquire()};
  auto waiting = begun<Lease>([&](auto done) { mutex.async_acquire(done); });
  REQUIRE(eventually([&] { return mutex.queue_length() == 2; }));
  auto closing = std::async(std::launch::async, [&] { return client.close(Deadline{patience}); });
  CHECK(std::get<0>(waiting.get()) == Errc::closed);
  CHECK(error_of([&] { static_cast<void>(mutex.acquire()); }) == Errc::closed);
  CHECK(lease->state() == LeaseState::held);
  CHECK(client.get(lease->node()).stat.ephemeral_owner != 0);  // a holder may finish its work
  lease.reset();
  CHECK(closing.get());
  CHECK(eventually([&] { return names_below(*other, "/lock").empty(); }));
}

TEST_CASE("a lease may outlive its mutex and its client") {
  TestClient other{"outlive"};
  ClientOptions options = options_for(connect_string());
  options.name_space = other.root();
  std::optional<Lease> lease;
  {
    Client client{options};
    lease.emplace(InterProcessMutex{client, "/lock"}.acquire());
    CHECK(lease->state() == LeaseState::held);
  }
  CHECK(lease->state() == LeaseState::lost);
  lease.reset();
  // The end of the session releases the lock: at once if it was closed, or when it expires.
  CHECK(eventually([&] { return names_below(*other, "/lock").empty(); }));
}

}  // namespace
}  // namespace custodian::tests::mutex_test
