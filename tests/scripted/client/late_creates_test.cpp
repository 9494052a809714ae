// Creates that the servers apply after the client has stopped expecting them: their nodes are
// deleted, so they block the lock only for a moment.

#include "scripted/client/late_creates.hpp"

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <optional>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"
#include "scripted/held.hpp"
#include "support/catch.hpp"

namespace custodian::tests::late_creates_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

using late_creates::LateAt;
using late_creates::soon;

constexpr auto path = "/late";

enum class Wanted { mutex, writer, reader, downgrade, semaphore_mutex, permits };

constexpr Wanted all_wanted[] = {Wanted::mutex,     Wanted::writer,          Wanted::reader,
                                 Wanted::downgrade, Wanted::semaphore_mutex, Wanted::permits};

/// The locks of one client at `path`. Each lock is made when it is needed: a mutex and a semaphore
/// cannot share a path.
struct Locks {
  explicit Locks(const Client& of) : client{of.share()} {}

  using Done = std::function<void(error_code, std::vector<Lease>)>;

  void acquire(Wanted wanted, const Lease& writing, asio::cancellation_slot slot, Done done) {
    auto one = asio::bind_cancellation_slot(slot, [done](error_code error, Lease lease) {
      std::vector<Lease> leases;
      leases.push_back(std::move(lease));
      done(error, std::move(leases));
    });
    switch (wanted) {
      case Wanted::mutex: return made(mutex).async_acquire(one);
      case Wanted::writer: return made(both).write().async_acquire(one);
      case Wanted::reader: return made(both).read().async_acquire(one);
      case Wanted::downgrade: return made(both).read().async_acquire(writing, one);
      case Wanted::semaphore_mutex: return made(semaphore_mutex).async_acquire(one);
      case Wanted::permits:
        return made(semaphore, 2).async_acquire(2, asio::bind_cancellation_slot(slot, done));
    }
  }

  template <typename Lock, typename... Arguments>
  [[nodiscard]] Lock& made(std::optional<Lock>& lock, Arguments... arguments) {
    if (!lock) lock.emplace(client, path, arguments...);
    return *lock;
  }

  Client client;
  std::optional<InterProcessMutex> mutex{};
  std::optional<InterProcessReadWriteLock> both{};
  std::optional<InterProcessSemaphoreMutex> semaphore_mutex{};
  std::optional<InterProcessSemaphore> semaphore{};
};

/// A lock that excludes the wanted one.
Wanted opposite(Wanted wanted) {
  return wanted == Wanted::reader || wanted == Wanted::downgrade ? Wanted::writer : wanted;
}

struct Clients {
  Clients() {
    observed = world.client("observed");
    other = world.client("other");
    locks.emplace(*observed);
    others_locks.emplace(*other);
  }

  Outcome<std::vector<Lease>> acquire(Locks& by, Wanted wanted, asio::cancellation_slot slot = {}) {
    Outcome<std::vector<Lease>> acquired;
    by.acquire(wanted, writing, slot, acquired.handler());
    return acquired;
  }
  /// Acquires the write lock that is to be downgraded.
  void write() {
    auto acquired = acquire(*locks, Wanted::writer);
    REQUIRE(world.run_until_arrived(acquired));
    writing = std::move(acquired.result().front());
  }
  /// Sends `times` other requests on the observed session.
  void read(int times) {
    for (int i = 0; i < times; ++i) {
      REQUIRE(
          run<GetResult>(world, [&](auto done) { observed->async_get("/", {}, done); }).arrived());
    }
  }
  /// Lets another client acquire a lock that excludes the observed one. That must not take long,
  /// and no node may be left afterwards.
  void let_other_in(Wanted wanted) {
    const Deadline deadline{soon};
    auto acquired = acquire(*others_locks, opposite(wanted));
    CHECK(world.run_until([&] { return acquired.arrived() || deadline.passed(); }));
    REQUIRE(acquired.arrived());
    REQUIRE_FALSE(acquired.error());
    acquired.result().clear();
    CHECK(world.run_until([&] { return nodes() == 0 || deadline.passed(); }));
    CHECK(nodes() == 0);
  }
  [[nodiscard]] std::size_t nodes() const {
    std::size_t count = 0;
    const std::string root = path;
    for (const std::string& at : {root, root + "/locks", root + "/leases"}) {
      count += static_cast<std::size_t>(
          std::ranges::count_if(world.ensemble.children(at),
                                [](const std::string& name) { return name.starts_with("_c_"); }));
    }
    return count;
  }
  void end() {
    writing.release();
    CHECK(world.run_until_idle(*observed));
    CHECK(world.run_until_idle(*other));
    CHECK(world.ensemble.watches() == 0);
    locks.reset();
    others_locks.reset();
    CHECK(world.end(observed));
    CHECK(world.end(other));
    CHECK(world.ensemble.sessions().empty());
    // A scheduled look for late creates does not keep the context busy either.
    world.settle();
    CHECK(world.context.stopped());
  }

  World world;
  std::unique_ptr<Client> observed;
  std::unique_ptr<Client> other;
  std::optional<Locks> locks;
  std::optional<Locks> others_locks;
  Lease writing;
};

TEST_CASE("late: a create that is applied requests later makes no lock wait", "[late]") {
  for (const Wanted wanted : all_wanted) {
    for (const int requests_later : {1, 3, 12}) {
      for (std::size_t at = 0;; ++at) {
        INFO("lock " << static_cast<int>(wanted) << ", create " << at << ", requests later "
                     << requests_later);
        Clients clients;
        if (wanted == Wanted::downgrade) clients.write();
        const auto plan = std::make_shared<LateAt>(at, requests_later);
        plan->transactions_create = wanted == Wanted::downgrade;
        clients.world.ensemble.set_fault_plan(plan);
        auto acquired = clients.acquire(*clients.locks, wanted);
        REQUIRE(clients.world.run_until_arrived(acquired));
        CHECK_FALSE(acquired.error());
        clients.read(requests_later);
        CHECK(clients.world.ensemble.apply_late_requests() == 0);
        for (const Lease& lease : acquired.result()) {
          CHECK(clients.world.ensemble.exists(lease.node()));
          CHECK(lease.state() == LeaseState::held);
        }
        acquired.result().clear();
        clients.writing.release();
        clients.let_other_in(wanted);
        const bool more = plan->was_there() && wanted != Wanted::downgrade;
        clients.end();
        if (!more) break;
      }
    }
  }
}

TEST_CASE("late: a create that is applied when its lock was released makes no lock wait",
          "[late]") {
  for (const Wanted wanted : all_wanted) {
    for (std::size_t at = 0;; ++at) {
      INFO("lock " << static_cast<int>(wanted) << ", create " << at);
      Clients clients;
      if (wanted == Wanted::downgrade) clients.write();
      const auto plan = std::make_shared<LateAt>(at, 0);
      plan->transactions_create = wanted == Wanted::downgrade;
      clients.world.ensemble.set_fault_plan(plan);
      auto acquired = clients.acquire(*clients.locks, wanted);
      REQUIRE(clients.world.run_until_arrived(acquired));
      CHECK_FALSE(acquired.error());
      acquired.result().clear();
      const std::size_t rest = wanted == Wanted::downgrade ? 1 : 0;
      REQUIRE(clients.world.run_until([&] { return clients.nodes() == rest; }));
      REQUIRE(clients.world.run_until_idle(*clients.observed));
      CHECK(clients.world.ensemble.apply_late_requests() == (plan->was_there() ? 1 : 0));
      CHECK(clients.nodes() == rest + (plan->was_there() ? 1 : 0));
      clients.writing.release();
      clients.let_other_in(wanted);
      const bool more = plan->was_there() && wanted != Wanted::downgrade;
      clients.end();
      if (!more) break;
    }
  }
}

TEST_CASE("late: a create that is applied when its caller has given up makes no lock wait",
          "[late]") {
  for (const Wanted wanted : all_wanted) {
    for (const int requests_later : {0, 3, 12}) {
      INFO("lock " << static_cast<int>(wanted) << ", requests later " << requests_later);
      Clients clients;
      // The parents exist already: otherwise the first create would fail, whether it is applied at
      // once or late.
      clients.world.make(path);
      if (wanted == Wanted::semaphore_mutex || wanted == Wanted::permits) {
        for (const auto* below : {"/locks", "/leases"})
          clients.world.make(std::string{path} + below);
      }
      if (wanted == Wanted::downgrade) clients.write();
      const auto plan = std::make_shared<LateAt>(0, requests_later);
      plan->transactions_create = wanted == Wanted::downgrade;
      asio::cancellation_signal signal;
      plan->on_late = [&] {
        asio::post(clients.world.context, [&signal] { signal.emit(asio::cancellation_type::all); });
      };
      clients.world.ensemble.set_fault_plan(plan);
      auto acquired = clients.acquire(*clients.locks, wanted, signal.slot());
      REQUIRE(clients.world.run_until_arrived(acquired));
      CHECK(acquired.error() == asio::error::operation_aborted);
      // These reads come after the immediate look for a node of the cancelled create.
      clients.read(12);
      CHECK(clients.world.ensemble.apply_late_requests() == (requests_later == 0 ? 1 : 0));
      clients.writing.release();
      clients.let_other_in(wanted);
      clients.end();
    }
  }
}

TEST_CASE("late: a node that somebody wanted stays, and what comes late beside it goes", "[late]") {
  const CreateMode mode = GENERATE(CreateMode::persistent_sequential, CreateMode::ephemeral,
                                   CreateMode::ephemeral_sequential);
  Clients clients;
  World& world = clients.world;
  world.make("/nodes");
  const auto plan = std::make_shared<LateAt>(0, 0);
  world.ensemble.set_fault_plan(plan);
  CreateOptions options{.mode = mode, .protection = Protection::by_unique_name};
  const auto created = run<Created>(
      world, [&](auto done) { clients.observed->async_create("/nodes/mine-", "", options, done); });
  REQUIRE(created.arrived());
  REQUIRE_FALSE(created.error());
  const auto looks = [&] { return count(world.ensemble.history(), "sync"); };
  const auto look_twice = [&] {
    world.ensemble.clear_history();
    REQUIRE(world.run_until([&] { return looks() == 3; }));  // the third begins when two have ended
  };
  look_twice();
  CHECK(world.ensemble.children("/nodes").size() == 1);
  CHECK(world.ensemble.apply_late_requests() == 1);
  look_twice();
  REQUIRE(world.run_until([&] { return world.ensemble.children("/nodes").size() == 1; }));
  CHECK(world.ensemble.exists(created.result().path));
  world.remove(created.result().path);
  clients.end();
}

TEST_CASE("late: while a create is repeated, what it has made is not taken for late", "[late]") {
  Clients clients;
  World& world = clients.world;
  world.make(path);
  const auto plan =
      std::make_shared<FaultsAt>("observed", Faults{{0, {.kind = FaultKind::fail_after}}});
  plan->submitted = [&](std::size_t step) {
    if (step == 0) asio::post(world.context, [&world] { world.ensemble.stop(); });
  };
  world.ensemble.set_fault_plan(plan);
  auto acquired = clients.acquire(*clients.locks, Wanted::mutex);
  // This time is long enough for a look that had become due and waited for the connection.
  asio::steady_timer timer{world.context, 150ms};
  bool passed = false;
  timer.async_wait([&](error_code) { passed = true; });
  REQUIRE(world.run_until([&] { return passed; }));
  world.ensemble.start();
  REQUIRE(world.run_until_arrived(acquired));
  REQUIRE_FALSE(acquired.error());
  REQUIRE(world.run_until([&] { return count(world.ensemble.history(), "sync") == 2; }));
  CHECK(world.ensemble.exists(acquired.result().front().node()));
  CHECK(acquired.result().front().state() == LeaseState::held);
  acquired.result().clear();
  clients.let_other_in(Wanted::mutex);
  clients.end();
}

TEST_CASE("late: nobody looks for creates whose replies came", "[late]") {
  Clients clients;
  auto acquired = clients.acquire(*clients.locks, Wanted::permits);
  REQUIRE(clients.world.run_until_arrived(acquired));
  clients.world.settle();
  asio::steady_timer timer{clients.world.context, 100ms};
  bool passed = false;
  timer.async_wait([&](error_code) { passed = true; });
  REQUIRE(clients.world.run_until([&] { return passed; }));
  CHECK(count(clients.world.ensemble.history(), "sync") == 0);
  acquired.result().clear();
  clients.let_other_in(Wanted::permits);
  clients.end();
}

TEST_CASE("late: a stray that may not be deleted is not looked for again and again", "[late]") {
  Clients clients;
  World& world = clients.world;
  world.make("/nodes");
  const auto plan = std::make_shared<LateAt>(0, 0);
  world.ensemble.set_fault_plan(plan);
  CreateOptions options{.mode = CreateMode::persistent_sequential,
                        .protection = Protection::by_unique_name};
  const auto created = run<Created>(
      world, [&](auto done) { clients.observed->async_create("/nodes/mine-", "", options, done); });
  REQUIRE_FALSE(created.error());
  world.ensemble.apply_late_requests();
  std::string stray;
  for (const std::string& name : world.ensemble.children("/nodes")) {
    if ("/nodes/" + name != created.result().path) stray = "/nodes/" + name;
  }
  world.ensemble.refuse(stray);
  REQUIRE(world.run_until([&] { return count(world.ensemble.history(), "remove") == 1; }));
  REQUIRE(world.run_until_idle(*clients.observed));
  world.ensemble.clear_history();
  asio::steady_timer timer{world.context, 700ms};
  bool passed = false;
  timer.async_wait([&](error_code) { passed = true; });
  REQUIRE(world.run_until([&] { return passed; }));
  CHECK(count(world.ensemble.history(), "remove") == 0);
  CHECK(count(world.ensemble.history(), "sync") == 0);
  clients.end();
}

}  // namespace
}  // namespace custodian::tests::late_creates_test
