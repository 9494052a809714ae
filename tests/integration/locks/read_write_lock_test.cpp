#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <latch>
#include <mutex>
#include <random>
#include <shared_mutex>

#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "support/acquired.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::read_write_lock_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

constexpr auto would_deadlock = boost::system::errc::resource_deadlock_would_occur;

/// Runs the function on another thread, and returns its result.
template <typename Function>
auto elsewhere(Function function) {
  return std::async(std::launch::async, std::move(function)).get();
}

/// A context that a thread runs.
struct Runner {
  ~Runner() {
    work.reset();
    thread.join();
  }

  asio::io_context context;
  asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(context);
  std::thread thread{[this] { context.run(); }};
};

/// Counts the readers and writers inside, and notices if a writer was not alone.
class Room {
 public:
  void read() {
    ++readers_;
    if (writers_ != 0) broken_ = true;
    std::this_thread::sleep_for(1ms);
    --readers_;
    ++visits_;
  }
  void write() {
    if (++writers_ != 1 || readers_ != 0) broken_ = true;
    std::this_thread::sleep_for(1ms);
    --writers_;
    ++visits_;
  }
  [[nodiscard]] bool broken() const { return broken_; }
  [[nodiscard]] int visits() const { return visits_; }

 private:
  std::atomic<int> readers_ = 0;
  std::atomic<int> writers_ = 0;
  std::atomic<int> visits_ = 0;
  std::atomic<bool> broken_ = false;
};

TEST_CASE("20 readers and 8 writers: many read, one writes, never both") {
  TestClient client{"crowd"};
  InterProcessReadWriteLock lock{*client, "/lock"};
  Room room;
  std::vector<std::future<void>> threads;
  std::latch all_readers_inside{20};
  for (int i = 0; i < 20; ++i) {
    threads.push_back(std::async(std::launch::async, [&] {
      for (int k = 0; k < 10; ++k) {
        const std::shared_lock guard{lock};
        if (k == 0) all_readers_inside.arrive_and_wait();
        room.read();
      }
    }));
  }
  all_readers_inside.wait();
  for (int i = 0; i < 8; ++i) {
    threads.push_back(std::async(std::launch::async, [&] {
      for (int k = 0; k < 10; ++k) {
        const std::scoped_lock guard{lock};
        room.write();
      }
    }));
  }
  for (auto& thread : threads) thread.get();
  CHECK(room.visits() == 280);
  CHECK_FALSE(room.broken());
  CHECK(eventually([&] { return names_below(*client, "/lock").empty(); }));
}

TEST_CASE("8 clients do 100 things at random each, and keep the rules") {
  TestClient first{"random"};
  Room room;
  std::vector<std::future<void>> threads;
  for (unsigned i = 0; i < 8; ++i) {
    threads.push_back(std::async(std::launch::async, [&, i] {
      ClientOptions options = options_for(connect_string());
      options.name_space = first.root();
      Client client{options};
      client.wait_connected();  // a try does not wait for the connection
      InterProcessReadWriteLock lock{client, "/lock"};
      std::minstd_rand random{i + 1};
      for (int k = 0; k < 100; ++k) {
        switch (random() % 4) {
          case 0: {
            const std::scoped_lock guard{lock};
            room.write();
            break;
          }
          case 1: {
            const std::shared_lock guard{lock, std::try_to_lock};
            if (!guard) break;
            room.read();
            break;
          }
          case 2: {
            Lease writing = lock.write().acquire();
            room.write();
            const Lease reading = lock.read().acquire(writing);
            writing.release();
            room.read();
            break;
          }
          default: {
            const std::shared_lock guard{lock};
            room.read();
          }
        }
      }
    }));
  }
  for (auto& thread : threads) thread.get();
  CHECK_FALSE(room.broken());
  CHECK(eventually([&] { return names_below(*first, "/lock").empty(); }));
}

TEST_CASE("who holds the read lock is refused the write lock at once, and told why") {
  TestClient client{"upgrade"};
  InterProcessReadWriteLock lock{*client, "/lock"};
  {
    const std::shared_lock guard{lock};
    CHECK(error_of([&] { lock.lock(); }) == would_deadlock);
    CHECK(error_of([&] { static_cast<void>(lock.try_lock()); }) == would_deadlock);
    CHECK(error_of([&] { static_cast<void>(lock.try_lock_for(10s)); }) == would_deadlock);
    CHECK(error_of([&] { static_cast<void>(lock.write().acquire()); }) == would_deadlock);
    CHECK(error_of([&] { static_cast<void>(lock.read().acquire()); }) == would_deadlock);
  }
  const Lease reading = lock.read().acquire();
  CHECK(error_of([&] { static_cast<void>(lock.write().acquire(reading)); }) == would_deadlock);
  CHECK(message_of([&] { static_cast<void>(lock.write().acquire(reading)); }).find("downgrade") !=
        std::string::npos);
  const auto [error, lease] =
      begun<Lease>([&](auto done) { lock.write().async_acquire(reading, done); }).get();
  CHECK(error == would_deadlock);
  CHECK_FALSE(lease);
  CHECK(lock.participants().size() == 1);
}

TEST_CASE("a thread may lock again what it has locked, and read under its own write lock") {
  TestClient client{"reentrant"};
  InterProcessReadWriteLock lock{*client, "/lock"};
  lock.lock();
  lock.lock();
  lock.lock_shared();
  CHECK(lock.try_lock_shared());
  CHECK(lock.write().hold_count() == 2);
  CHECK(lock.read().hold_count() == 2);
  CHECK_FALSE(elsewhere([&] { return lock.try_lock_shared(); }));
  lock.unlock();
  lock.unlock();
  CHECK(lock.read().is_held_by_this_thread());
  CHECK(elsewhere([&] {
    const std::shared_lock guard{lock, 10s};
    return guard.owns_lock();
  }));
  CHECK_FALSE(elsewhere([&] { return lock.try_lock(); }));
  lock.unlock_shared();
  lock.unlock_shared();
  CHECK(error_of([&] { lock.unlock_shared(); }) == boost::system::errc::operation_not_permitted);
  CHECK(eventually([&] { return names_below(*client, "/lock").empty(); }));
}

TEST_CASE("a downgrade lets readers in, and the writer that waits goes on waiting") {
  TestClient client{"downgrade"};
  InterProcessReadWriteLock lock{*client, "/lock"};
  Lease writing = lock.write().acquire();
  auto next_writer = begun<Lease>([&](auto done) { lock.write().async_acquire(done); });
  REQUIRE(eventually([&] { return lock.participants().size() == 2; }));
  Lease reading = lock.read().acquire(writing);
  // The reader's node has the sequence number of the writer's node, and precedes all later nodes.
  const auto number = [](const Lease& lease) {
    return lease.node().substr(lease.node().size() - 10);
  };
  CHECK(number(reading) == number(writing));
  CHECK(reading.token() > writing.token());
  const auto queue = lock.participants();
  REQUIRE(queue.size() == 3);
  CHECK(queue[0].node == writing.node());
  CHECK(queue[1].node == reading.node());
  writing.release();
  CHECK(eventually([&] { return lock.participants().size() == 2; }));
  // A new reader queues behind the waiting writer, which waits for the downgraded reader.
  CHECK_FALSE(acquired(lock.read().try_acquire()));
  CHECK(next_writer.wait_for(0s) == std::future_status::timeout);
  CHECK(reading.state() == LeaseState::held);
  reading.release();
  const auto [error, lease] = next_writer.get();
  CHECK_FALSE(error);
  CHECK(lease.state() == LeaseState::held);
}

TEST_CASE("a downgrade needs a write lock that is held") {
  TestClient client{"lost-downgrade"};
  InterProcessReadWriteLock lock{*client, "/lock"};
  InterProcessReadWriteLock other{*client, "/other"};
  const Lease foreign = other.write().acquire();
  CHECK(error_of([&] { static_cast<void>(lock.read().acquire(foreign)); }) ==
        Errc::invalid_argument);
  CHECK(error_of([&] { static_cast<void>(lock.read().acquire(Lease{})); }) == Errc::lock_lost);
  // An operator has deleted the writer's node, and the client has not noticed that.
  const Lease writing = lock.write().acquire();
  auto next = begun<Lease>([&](auto done) { lock.write().async_acquire(done); });
  client->remove(writing.node());
  CHECK(error_of([&] { static_cast<void>(lock.read().acquire(writing)); }) == Errc::lock_lost);
  const auto [error, lease] = next.get();
  CHECK_FALSE(error);
  CHECK(eventually([&] { return lock.participants().size() == 1; }));
}

TEST_CASE("a downgrade waits no longer than it is told to, and leaves nothing behind") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  TestClient client{"late-downgrade", server.connect_string()};
  InterProcessReadWriteLock lock{*client, "/lock"};
  lock.lock();
  server.pause();
  // The request is sent, and not answered.
  CHECK_FALSE(lock.try_lock_shared_for(50ms));
  std::stop_source stop;
  stop.request_stop();
  CHECK(error_of([&] {
          static_cast<void>(lock.read().acquire(lock.write().current_lease(), stop.get_token()));
        }) == asio::error::operation_aborted);
  server.resume();
  CHECK(lock.write().is_held_by_this_thread());
  CHECK(eventually([&] { return lock.participants().size() == 1; }));
  CHECK(lock.try_lock_shared_for(30s));
  lock.unlock();
  lock.unlock_shared();
}

TEST_CASE("who has lost the write lock does not wait for the read lock") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  std::optional<Client> client{std::in_place, [&] {
                                 ClientOptions options = options_for(server.connect_string());
                                 options.session_timeout = 1500ms;
                                 options.touch_interval = 300ms;
                                 return options;
                               }()};
  InterProcessReadWriteLock lock{*client, "/lock"};
  const Lease writing = lock.write().acquire();
  server.kill();
  CHECK(error_of([&] { static_cast<void>(lock.read().acquire(writing)); }) == Errc::lock_lost);
}

TEST_CASE("a lease of another client is another lock's") {
  TestClient one{"one"};
  TestClient two{"two"};
  InterProcessReadWriteLock ones{*one, "/lock"};
  InterProcessReadWriteLock twos{*two, "/lock"};
  const Lease writing = ones.write().acquire();
  CHECK(error_of([&] { static_cast<void>(twos.write().acquire(writing)); }) ==
        Errc::invalid_argument);
  CHECK(error_of([&] { static_cast<void>(twos.read().acquire(writing)); }) ==
        Errc::invalid_argument);
}

TEST_CASE("readers do not pass a writer that came before them") {
  TestClient client{"fair"};
  InterProcessReadWriteLock lock{*client, "/lock"};
  Lease first = lock.read().acquire();
  auto writer = begun<Lease>([&](auto done) { lock.write().async_acquire(done); });
  REQUIRE(eventually([&] { return lock.participants().size() == 2; }));
  const AcquireResult reader = lock.read().try_acquire();
  CHECK_FALSE(reader);
  REQUIRE(reader.blocked_by);
  CHECK(reader.blocked_by->node.find("__WRIT__") != std::string::npos);
  first.release();
  CHECK_FALSE(std::get<0>(writer.get()));
}

TEST_CASE("an identity of its own is what others see of a reader and a writer") {
  TestClient client{"identity"};
  InterProcessReadWriteLock lock{*client, "/lock", {.identity = "table 7"}};
  const Lease writing = lock.write().acquire();
  const Lease reading = lock.read().acquire(writing);
  for (const Participant& each : lock.participants()) CHECK(each.identity == "table 7");
}

TEST_CASE("nodes of kazoo's profile bear its names, and stand in one queue with Curator's") {
  TestClient client{"kazoo"};
  InterProcessReadWriteLock lock{*client, "/lock", {.profile = NamingProfile::kazoo}};
  Lease writing = lock.write().acquire();
  CHECK(writing.node().find("__lock__") != std::string::npos);
  const Lease reading = lock.read().acquire(writing);
  CHECK(reading.node().find("__rlock__") != std::string::npos);
  writing.release();
  InterProcessReadWriteLock curators{*client, "/lock"};
  CHECK(acquired(curators.read().try_acquire_for(10s)));
  CHECK_FALSE(acquired(curators.write().try_acquire()));
}

TEST_CASE("the end of a writer wakes the next writer, or the readers behind it, and nobody else") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  Runner runner;
  {
    constexpr std::size_t readers = 100;
    // Each contender has a session of its own.
    std::vector<std::unique_ptr<Client>> clients;
    std::vector<std::unique_ptr<InterProcessReadWriteLock>> locks;
    const auto enter = [&] {
      clients.push_back(std::make_unique<Client>(runner.context.get_executor(),
                                                 options_for(server.connect_string())));
      locks.push_back(std::make_unique<InterProcessReadWriteLock>(*clients.back(), "/lock"));
      return locks.back().get();
    };
    const auto queued = [&](std::size_t count) {
      return eventually([&] { return locks.front()->participants().size() == count; });
    };
    std::vector<std::future<std::tuple<error_code, Lease>>> writers;
    for (std::size_t i = 1; i <= 3; ++i) {
      writers.push_back(begun<Lease>([&](auto done) { enter()->write().async_acquire(done); }));
      REQUIRE(queued(i));
    }
    std::vector<std::future<std::tuple<error_code, Lease>>> waiting;
    for (std::size_t i = 0; i < readers; ++i) {
      waiting.push_back(begun<Lease>([&](auto done) { enter()->read().async_acquire(done); }));
    }
    REQUIRE(queued(3 + readers));
    // A waiter watches its predecessor's node and its own.
    REQUIRE(eventually([&] { return server.watches_by_session().size() == 2 + readers; }));
    const auto fired = [&] { return server.statistic("zk_sum_node_deleted_watch_count"); };
    std::vector<std::int64_t> woken;
    for (std::size_t i = 0; i < 3; ++i) {
      Lease lease = std::get<Lease>(writers[i].get());
      REQUIRE(lease);
      const std::int64_t before = fired();
      lease.release();
      REQUIRE(queued(3 + readers - i - 1));
      const int own = i == 0 ? 0 : 1;  // a holder that waited also watches its own node
      woken.push_back(fired() - before - own);
    }
    CHECK(woken == std::vector<std::int64_t>{1, 1, readers});
    for (auto& each : waiting) CHECK(acquired(std::get<Lease>(each.get())));
  }
}

}  // namespace
}  // namespace custodian::tests::read_write_lock_test
