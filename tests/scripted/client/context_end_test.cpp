// A context that is destroyed under a client on which threads wait.

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

#ifdef CUSTODIAN_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

namespace custodian::tests::context_end_test {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

/// A client whose context is gone is never freed: its unanswered requests keep it alive. And a lock
/// object must not be destroyed after the context, so the test leaks both.
struct LeaksAreExpected {
#ifdef CUSTODIAN_ADDRESS_SANITIZER
  LeaksAreExpected() { __lsan_disable(); }
  ~LeaksAreExpected() { __lsan_enable(); }
#else
  LeaksAreExpected() {}
  ~LeaksAreExpected() {}
#endif
  LeaksAreExpected(const LeaksAreExpected&) = delete;
  LeaksAreExpected& operator=(const LeaksAreExpected&) = delete;
};

/// A thread that waits for a lock, on a client whose context the test runs and destroys.
class Blocked {
 public:
  Blocked(World& world, const LockOptions& lock_options)
      : client_{std::make_unique<Client>(context_->get_executor(), world.options("blocked"))},
        mutex_{new InterProcessMutex{*client_, "/lock", lock_options}} {
    while (!is_connected(client_->connection_state())) context_->run_one_for(World::limit);
    context_->poll();
  }

  /// Acquires the lock for another contender of this client.
  Lease hold() {
    Outcome<Lease> held;
    mutex_->async_acquire(held.handler());
    while (!held.arrived()) context_->run_one_for(World::limit);
    context_->poll();
    return std::move(held.result());
  }
  /// Begins to wait, and runs this many handlers. Returns false if there are fewer.
  bool wait(int handlers) {
    // The thread is detached, since it could not be joined if its wait never ended.
    std::thread{[mutex = mutex_, ended = ended_] {
      const LeaksAreExpected leaks;
      try {
        // Not released, for the test may destroy the context at any time.
        static_cast<void>(new Lease{mutex->acquire()});
        ended->set_value(error_code{});
      } catch (const Error& error) {
        ended->set_value(error.code());
      }
    }}.detach();
    for (int i = 0; i < handlers; ++i) {
      const auto patience = i == 0 ? std::chrono::milliseconds{World::limit} : 30ms;
      if (context_->run_one_for(patience) == 0) return false;
    }
    return true;
  }
  /// Destroys the client, then the context. Returns the outcome of the wait, or nothing if the wait
  /// does not end.
  std::optional<error_code> end_of_context() {
    client_.reset();
    context_.reset();
    if (over_.wait_for(World::limit) != std::future_status::ready) return std::nullopt;
    return over_.get();
  }

 private:
  std::unique_ptr<asio::io_context> context_ = std::make_unique<asio::io_context>(1);
  std::unique_ptr<Client> client_;
  InterProcessMutex* const mutex_;  ///< never destroyed: see LeaksAreExpected
  std::shared_ptr<std::promise<error_code>> ended_ = std::make_shared<std::promise<error_code>>();
  std::future<error_code> over_ = ended_->get_future();
};

TEST_CASE("end of context: a thread that waits for a lock is told, wherever it waits") {
  enum class Holder { nobody, another_client, the_same_client };
  const Holder holder = GENERATE(Holder::nobody, Holder::another_client, Holder::the_same_client);
  const HandOff hand_off = GENERATE(HandOff::strict(), HandOff::cohort(2));
  const std::chrono::minutes keep_idle_for{GENERATE(0, 1)};
  const LeaksAreExpected leaks;
  bool more = true;
  for (int handlers = 1; more; ++handlers) {
    World world;
    auto other = world.client("other");
    InterProcessMutex others_mutex{*other, "/lock"};
    Lease held;
    if (holder == Holder::another_client) {
      held = std::move(
          run<Lease>(world, [&](auto done) { others_mutex.async_acquire(done); }).result());
    }
    std::optional<Blocked> blocked{
        std::in_place, world, LockOptions{.hand_off = hand_off, .keep_idle_for = keep_idle_for}};
    if (holder == Holder::the_same_client) held = blocked->hold();
    more = blocked->wait(handlers);
    INFO(handlers);
    const auto ended = blocked->end_of_context();
    REQUIRE(ended);
    if (*ended) CHECK(*ended == Errc::closed);
    if (holder != Holder::nobody) CHECK(*ended);
    // A lease must not be released after its context.
    if (holder == Holder::the_same_client) {
      static_cast<void>(new Lease{std::move(held)});
    } else {
      held.release();
    }
    REQUIRE(handlers < 200);
  }
}

TEST_CASE("end of context: what the handlers of those who wait own goes with it") {
  const LeaksAreExpected leaks;
  const HandOff hand_off = GENERATE(HandOff::strict(), HandOff::cohort(2));
  const std::chrono::minutes keep_idle_for{GENERATE(0, 1)};
  const bool has_begun = GENERATE(false, true);
  std::weak_ptr<int> kept;
  {
    World world;
    auto client = world.client("mine");
    InterProcessMutex mutex{
        *client, "/lock", {.hand_off = hand_off, .keep_idle_for = keep_idle_for}};
    auto first = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
    REQUIRE(first.arrived());
    auto owned = std::make_shared<int>();
    kept = owned;
    mutex.async_acquire([owned = std::move(owned)](error_code, const Lease&) {});
    if (has_begun) world.settle();
    CHECK_FALSE(kept.expired());
  }
  CHECK(kept.expired());
}

TEST_CASE("end of context: what the handlers of readers that wait for one node own goes with it") {
  const LeaksAreExpected leaks;
  const std::chrono::minutes keep_idle_for{GENERATE(0, 1)};
  const bool has_begun = GENERATE(false, true);
  std::weak_ptr<int> kept;
  {
    World world;
    auto client = world.client("mine");
    InterProcessReadWriteLock lock{
        *client, "/lock", {.keep_idle_for = keep_idle_for, .share_readers = 64}};
    auto first = run<Lease>(world, [&](auto done) { lock.write().async_acquire(done); });
    REQUIRE(first.arrived());
    auto owned = std::make_shared<int>();
    kept = owned;
    lock.read().async_acquire([](error_code, const Lease&) {});
    lock.read().async_acquire([owned = std::move(owned)](error_code, const Lease&) {});
    if (has_begun) world.settle();
    CHECK_FALSE(kept.expired());
  }
  CHECK(kept.expired());
}

TEST_CASE("end of context: the handler of a reader that waits for a listing goes with it") {
  const LeaksAreExpected leaks;
  bool more = true;
  for (int handlers = 0; more; ++handlers) {
    std::weak_ptr<int> kept;
    {
      World world;
      auto client = world.client("mine");
      auto other = world.client("other");
      InterProcessReadWriteLock lock{*client, "/lock", {.share_readers = 64}};
      InterProcessReadWriteLock others{*other, "/lock"};
      const auto first = run<Lease>(world, [&](auto done) { lock.read().async_acquire(done); });
      world.settle();
      // The queue changes, and is not listed again within 10 ms, unless a reader comes.
      const auto second = run<Lease>(world, [&](auto done) { others.read().async_acquire(done); });
      world.settle();
      auto owned = std::make_shared<int>();
      kept = owned;
      lock.read().async_acquire([owned = std::move(owned)](error_code, const Lease&) {});
      world.context.restart();
      for (int i = 0; i < handlers && more; ++i) more = world.context.poll_one() > 0;
    }
    CHECK(kept.expired());
    REQUIRE(handlers < 200);
  }
}

TEST_CASE("end of context: a lock that is kept goes with it") {
  const LeaksAreExpected leaks;
  World world;
  auto other = world.client("other");
  InterProcessMutex others_mutex{*other, "/lock"};
  {
    std::optional<Blocked> keeper{std::in_place, world,
                                  LockOptions{.keep_idle_for = std::chrono::minutes{1}}};
    keeper->hold().release();
    CHECK(world.ensemble.children("/lock").size() == 1);
    keeper.reset();
  }
  for (const std::int64_t session : world.ensemble.sessions()) {
    if (session != other->session().id) world.ensemble.expire(session);
  }
  auto next = run<Lease>(world, [&](auto done) { others_mutex.async_acquire(done); });
  REQUIRE(next.arrived());
  next.result().release();
}

TEST_CASE("context end: an ensemble may go before the context of its clients, or after it") {
  for (const bool ensemble_first : {false, true}) {
    auto ensemble = std::make_unique<testing::FakeEnsemble>();
    auto context = std::make_unique<asio::io_context>();
    {
      Client client{context->get_executor(), ensemble->options("mine")};
      while (!is_connected(client.connection_state())) context->run_one_for(World::limit);
    }
    // The client is shutting down already when its context is destroyed.
    if (ensemble_first) ensemble.reset();
    context.reset();
    ensemble.reset();
  }
}

}  // namespace
}  // namespace custodian::tests::context_end_test
