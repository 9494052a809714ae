// Exceptions from user code that the library calls: every waiting caller gets an answer.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_executor.hpp>

#include "custodian/authoring/spawn.hpp"
#include "custodian/leader/leader_observer.hpp"
#include "custodian/leader/leader_selector.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::exceptions_test {
namespace {

namespace asio = boost::asio;

struct Logged {
  explicit Logged(World& world, std::string_view throws_for) : options{world.options("mine")} {
    options.acl_provider = [throws_for](std::string_view path) -> Acl {
      if (path == throws_for) throw 7;  // NOLINT: no handler of std::exception catches an int
      return open_acl();
    };
    options.log = [lines = lines](LogLevel level, std::string_view line) {
      if (level == LogLevel::error) lines->emplace_back(line);
    };
  }
  ClientOptions options;
  std::shared_ptr<std::vector<std::string>> lines = std::make_shared<std::vector<std::string>>();
};

TEST_CASE("exceptions: an ACL provider that throws anything fails what asked it") {
  World world;
  SECTION("for a parent") {
    Logged logged{world, "/lock"};
    auto client = world.client(logged.options);
    {
      InterProcessMutex mutex{*client, "/lock"};
      auto acquired = run<Lease>(world, [&](auto done) { mutex.async_acquire(done); });
      REQUIRE(acquired.arrived());
      CHECK(acquired.error() == Errc::invalid_argument);
    }
    CHECK(world.end(client));
    CHECK(logged.lines->size() == 1);
  }
  SECTION("for a node") {
    Logged logged{world, "/node"};
    auto client = world.client(logged.options);
    auto created =
        run<Created>(world, [&](auto done) { client->async_create("/node", "", {}, done); });
    REQUIRE(created.arrived());
    CHECK(created.error() == Errc::invalid_argument);
    CHECK(world.end(client));
    CHECK(logged.lines->size() == 1);
  }
  SECTION("for a transaction") {
    Logged logged{world, "/node"};
    auto client = world.client(logged.options);
    auto committed = run<std::vector<TransactionResult>>(
        world, [&](auto done) { client->async_commit({create("/node")}, {}, done); });
    REQUIRE(committed.arrived());
    CHECK(committed.error() == Errc::invalid_argument);
    CHECK(world.end(client));
    CHECK(logged.lines->size() == 1);
  }
}

asio::awaitable<Result<Lease>> fails() {
  throw std::runtime_error{"no memory, say"};
  co_return Lease{};
}

TEST_CASE("exceptions: a story of the client's that ends by one answers, and is in the log") {
  World world;
  Logged logged{world, ""};
  auto client = world.client(logged.options);
  Outcome<Lease> outcome;
  spawn(client->core(), "a test", fails(), outcome.handler());
  REQUIRE(world.run_until_arrived(outcome));
  CHECK(outcome.error() == boost::system::errc::state_not_recoverable);
  world.settle();
  CHECK(*logged.lines == std::vector<std::string>{"a test has failed: no memory, say"});
  CHECK(world.end(client));
}

/// A user's executor that is full at first: it throws a few times before it accepts a task.
struct Full {
  std::shared_ptr<int> refusals;
  asio::io_context::executor_type inner;

  [[nodiscard]] asio::execution_context& query(asio::execution::context_t) const noexcept {
    return inner.context();
  }
  static constexpr auto query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  template <typename Function>
  void execute(Function function) const {
    if (--*refusals >= 0) throw std::runtime_error{"the queue is full"};
    inner.execute(std::move(function));
  }
  friend bool operator==(const Full& a, const Full& b) noexcept { return a.inner == b.inner; }
};

TEST_CASE("exceptions: an executor that throws ends the turn of a leader, and join() ends, too") {
  World world;
  Logged logged{world, ""};
  auto client = world.client(logged.options);
  int thrown = 0;
  int turns = 0;
  LeaderSelectorOptions options;
  options.requeue = LeaderSelectorOptions::Requeue::always;
  options.executor = Full{std::make_shared<int>(2), world.context.get_executor()};
  options.on_exception = [&](const std::exception_ptr&) { ++thrown; };
  {
    LeaderSelector selector{*client, "/election",
                            [&](Lease, std::stop_token) -> asio::awaitable<void> {
                              ++turns;
                              co_return;
                            },
                            options};
    selector.start();
    REQUIRE(world.run_until([&] { return turns > 0; }));
    CHECK(thrown == 2);
    Outcome<> joined;
    selector.close();
    selector.async_join(joined.handler());
    REQUIRE(world.run_until_arrived(joined));
    CHECK_FALSE(joined.error());
  }
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
}

TEST_CASE(
    "exceptions: an executor that throws for one caller leaves another one waiting for the next "
    "leader") {
  World world;
  Logged logged{world, ""};
  auto client = world.client(logged.options);
  {
    LeaderObserver observer{*client, "/election"};
    using Leader = Outcome<std::optional<Participant>>;
    const auto next = [&] {
      Leader leader;
      observer.async_next(leader.handler());
      return leader;
    };
    const Leader nobody = next();
    REQUIRE(world.run_until_arrived(nobody));
    const Leader waiting = next();
    world.settle();

    const auto refusals = std::make_shared<int>(1);
    observer.async_next(
        asio::bind_executor(Full{refusals, world.context.get_executor()}, Leader{}.handler()));
    REQUIRE(world.run_until([&] { return *refusals < 1; }));
    const Leader refused = next();
    REQUIRE(world.run_until_arrived(refused));
    CHECK(refused.error() == Errc::invalid_argument);

    world.make("/election");
    world.make("/election/latch-0000000000");
    REQUIRE(world.run_until_arrived(waiting));
    CHECK(waiting.result());
  }
  CHECK(world.run_until_idle(*client));
  CHECK(world.end(client));
}

}  // namespace
}  // namespace custodian::tests::exceptions_test
