// The kit for authors of recipes: the completion of a spawned coroutine, events, and following a
// node.

#include <boost/asio/awaitable.hpp>
#include <stdexcept>

#include "custodian/authoring/doubtful_create.hpp"
#include "custodian/authoring/event.hpp"
#include "custodian/authoring/follow.hpp"
#include "custodian/authoring/owned_node.hpp"
#include "custodian/authoring/spawn.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::authoring_test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct Spawning {
  ~Spawning() { CHECK(world.end(client)); }

  World world;
  std::unique_ptr<Client> client = world.client("author");
};

// -- spawn ----------------------------------------------------------------------------------------

asio::awaitable<Result<std::string>> gives(std::string value) { co_return value; }
asio::awaitable<Result<std::string>> refuses() { co_return Errc::invalid_argument; }
asio::awaitable<Result<void>> gives_nothing(error_code error) {
  if (error) co_return error;
  co_return Result<void>{};
}
asio::awaitable<Result<std::tuple<int, std::string>>> gives_two() {
  co_return std::tuple{2, std::string{"two"}};
}
asio::awaitable<Result<std::size_t>> gives_no_number() {
  co_return failed<std::size_t>(Errc::closed);
}
asio::awaitable<Result<std::string>> keeps(std::shared_ptr<int> kept) {
  co_return std::to_string(*kept);
}
asio::awaitable<void> throws() {
  throw std::runtime_error{"out of paper"};
  co_return;
}

TEST_CASE("spawn: a handler gets what the coroutine returns, on the strand and not at once") {
  Spawning with;
  Outcome<std::string> outcome;
  spawn(with.client->core(), "a test", gives("a value"), outcome.handler());
  CHECK_FALSE(outcome.arrived());
  REQUIRE(with.world.run_until_arrived(outcome));
  CHECK_FALSE(outcome.error());
  CHECK(outcome.result() == "a value");
}

TEST_CASE("spawn: an error comes with a default value") {
  Spawning with;
  Outcome<std::string> refused;
  Outcome<std::size_t> no_number;
  spawn(with.client->core(), "a test", refuses(), refused.handler());
  spawn(with.client->core(), "a test", gives_no_number(), no_number.handler());
  REQUIRE(with.world.run_until_arrived(refused));
  REQUIRE(with.world.run_until_arrived(no_number));
  CHECK(refused.error() == Errc::invalid_argument);
  CHECK(refused.result().empty());
  CHECK(no_number.error() == Errc::closed);
  CHECK(no_number.result() == 0);
}

TEST_CASE("spawn: nothing, and several values, are handed on as they are") {
  Spawning with;
  Outcome<> nothing;
  Outcome<> failure;
  Outcome<int, std::string> two;
  spawn(with.client->core(), "a test", gives_nothing({}), nothing.handler());
  spawn(with.client->core(), "a test", gives_nothing(Errc::closed), failure.handler());
  spawn(with.client->core(), "a test", gives_two(), two.handler());
  REQUIRE(with.world.run_until_arrived(two));
  CHECK((nothing.arrived() && !nothing.error()));
  CHECK((failure.arrived() && failure.error() == Errc::closed));
  CHECK(two.result<1>() == 2);
  CHECK(two.result<2>() == "two");
}

TEST_CASE("spawn: what a coroutine has kept is destroyed before its handler is called") {
  Spawning with;
  const auto kept = std::make_shared<int>(1);
  std::optional<long> users;
  spawn(with.client->core(), "a test", keeps(kept),
        Handler<std::string>{[&](error_code, std::string) { users = kept.use_count(); }});
  REQUIRE(with.world.run_until([&] { return users.has_value(); }));
  CHECK(users == 1);
}

TEST_CASE("spawn: one that nobody waits for tells of its failure, and the log does") {
  World world;
  std::vector<std::string> lines;
  ClientOptions options = world.options("author");
  options.log = [&](LogLevel, std::string_view line) { lines.emplace_back(line); };
  auto client = world.client(std::move(options));
  world.settle();
  lines.clear();
  error_code failure;
  spawn(client->core(), "printing", throws(), [&](error_code error) { failure = error; });
  REQUIRE(world.run_until([&] { return static_cast<bool>(failure); }));
  CHECK(failure == boost::system::errc::state_not_recoverable);
  world.settle();
  CHECK(lines == std::vector<std::string>{"printing has failed: out of paper"});
  CHECK(world.end(client));
}

// -- AsyncEvent -----------------------------------------------------------------------------------

struct Waits {
  std::shared_ptr<AsyncEvent> event = std::make_shared<AsyncEvent>();
  std::shared_ptr<int> woken = std::make_shared<int>(0);
};

asio::awaitable<void> wait_once(Waits waits, asio::any_io_executor strand, Deadline until,
                                CancellationPtr cancellation) {
  co_await waits.event->wait(strand, until, cancellation);
  ++*waits.woken;
}

TEST_CASE("an event wakes all who wait, and nobody who comes later") {
  Spawning with;
  const Waits waits;
  const auto begin = [&](Deadline until, CancellationPtr cancellation) {
    spawn(with.client->core(), "a wait",
          wait_once(waits, with.client->get_executor(), until, std::move(cancellation)));
    with.world.settle();
  };
  begin({}, nullptr);
  begin({}, nullptr);
  CHECK(*waits.woken == 0);
  asio::post(with.client->get_executor(), [&] { waits.event->notify_all(); });
  REQUIRE(with.world.run_until([&] { return *waits.woken == 2; }));

  begin({}, nullptr);
  CHECK(*waits.woken == 2);
  asio::post(with.client->get_executor(), [&] { waits.event->notify_all(); });
  REQUIRE(with.world.run_until([&] { return *waits.woken == 3; }));
}

TEST_CASE("a wait for an event ends at its deadline, and when it is cancelled, before it, too") {
  Spawning with;
  const Waits waits;
  const auto begin = [&](Deadline until, CancellationPtr cancellation) {
    spawn(with.client->core(), "a wait",
          wait_once(waits, with.client->get_executor(), until, std::move(cancellation)));
    with.world.settle();
  };
  begin(Deadline{brief_limit}, nullptr);
  CHECK(with.world.run_until([&] { return *waits.woken == 1; }));

  const auto cancellation = std::make_shared<Cancellation>(with.client->core());
  begin({}, cancellation);
  CHECK(*waits.woken == 1);
  cancellation->request();
  CHECK(with.world.run_until([&] { return *waits.woken == 2; }));
  begin({}, cancellation);
  CHECK(with.world.run_until([&] { return *waits.woken == 3; }));
}

// -- follow ---------------------------------------------------------------------------------------

constexpr auto path = "/followed";

asio::awaitable<Result<std::string>> next_after(std::shared_ptr<const Client> client,
                                                CancellationPtr cancellation, std::int64_t known) {
  const CorePtr core = client->core();
  const OperationOptions patient{Deadline::never(), client->retry_policy().unlimited()};
  const auto read = [&] { return read_data(core, cancellation, path, patient, Watching::yes); };
  const auto is_later = [&](const GetResult& now) { return now.stat.mzxid > known; };
  Watch none;
  Result<Watched<GetResult>> seen =
      co_await next_news<GetResult>(core, cancellation, std::move(none), read, is_later);
  if (!seen) co_return seen.error();
  co_return std::move(seen->value.data);
}

struct Following : Spawning {
  Following() {
    world.make(path, "old");
    const auto read =
        run<GetResult>(world, [&](auto done) { client->async_get(path, {}, std::move(done)); });
    known = read.result().stat.mzxid;
  }
  [[nodiscard]] Outcome<std::string> follow(CancellationPtr cancellation = nullptr) {
    Outcome<std::string> outcome;
    spawn(
        client->core(), "following",
        next_after(std::make_shared<const Client>(client->share()), std::move(cancellation), known),
        outcome.handler());
    REQUIRE(world.run_until([&] { return world.ensemble.watches() == 1; }));
    CHECK_FALSE(outcome.arrived());
    return outcome;
  }
  void write(std::string data) {
    world.ensemble.operate(request::Set{path, std::move(data), any_version});
  }

  std::int64_t known = 0;
};

TEST_CASE("follow: the next change ends it, and leaves no watch") {
  Following with;
  const auto outcome = with.follow();
  with.write("new");
  REQUIRE(with.world.run_until_arrived(outcome));
  CHECK(outcome.result() == "new");
  CHECK(with.world.run_until([&] { return with.world.ensemble.watches() == 0; }));
}

TEST_CASE("follow: it goes on in the next session, and sees what was missed") {
  Following with;
  const auto outcome = with.follow();
  const bool missed = GENERATE(false, true);
  CAPTURE(missed);
  with.world.ensemble.expire(with.client->session().id);
  if (!missed) {
    REQUIRE(with.world.run_until([&] { return with.world.ensemble.watches() == 1; }));
    CHECK_FALSE(outcome.arrived());
  }
  with.write("new");
  REQUIRE(with.world.run_until_arrived(outcome));
  CHECK(outcome.result() == "new");
}

TEST_CASE("follow: a cancellation, a missing node and the client's end are errors") {
  SECTION("a cancellation") {
    Following with;
    const auto cancellation = std::make_shared<Cancellation>(with.client->core());
    const auto outcome = with.follow(cancellation);
    cancellation->request();
    REQUIRE(with.world.run_until_arrived(outcome));
    CHECK(outcome.error() == asio::error::operation_aborted);
  }
  SECTION("a missing node") {
    Following with;
    const auto outcome = with.follow();
    with.world.remove(path);
    REQUIRE(with.world.run_until_arrived(outcome));
    CHECK(outcome.error() == ServerErrc::no_node);
  }
  SECTION("the client's end") {
    Following with;
    const auto outcome = with.follow();
    const auto closed = run<bool>(
        with.world, [&](auto done) { with.client->async_close(Deadline{1s}, std::move(done)); });
    REQUIRE(with.world.run_until_arrived(outcome));
    CHECK(closed.arrived());
    CHECK(outcome.error() == Errc::closed);
  }
}

// -- What a recipe owns ---------------------------------------------------------------------------

OwnedNode own(Spawning& with, const std::string& where) {
  const auto created = run<Created>(with.world, [&](auto done) {
    with.client->async_create(where, "", {.mode = CreateMode::ephemeral}, std::move(done));
  });
  return OwnedNode{with.client->core(), created.result()};
}

TEST_CASE("owned node: a node is deleted at once when another one takes its object") {
  Spawning with;
  OwnedNode first = own(with, "/first");
  OwnedNode second = own(with, "/second");
  first = std::move(second);
  CHECK(with.world.run_until([&] { return !with.world.ensemble.exists("/first"); }));
  CHECK(with.world.ensemble.exists("/second"));
  CHECK(first.path() == "/second");
}

TEST_CASE("owned node: one that is known to be gone costs no delete") {
  Spawning with;
  {
    OwnedNode node = own(with, "/node");
    with.world.remove("/node");
    with.world.ensemble.clear_history();
    node.note_gone();
    OwnedNode moved = std::move(node);
    const OwnedNode assigned = std::exchange(moved, OwnedNode{});
  }
  CHECK(with.world.run_until_idle(*with.client));
  CHECK(with.world.ensemble.history().empty());
}

TEST_CASE("owned node: one that is gone, and comes late, is deleted after all") {
  Spawning with;
  constexpr auto late = "/_c_01234567-89ab-cdef-0123-456789abcdef-node";
  {
    OwnedNode node = own(with, late);
    detail::remember_doubtful(*with.client->core(), late, detail::NodeOf::caller,
                              std::chrono::steady_clock::now());
    with.world.remove(late);
    node.note_gone();
  }
  with.world.settle();
  with.world.make(late);
  CHECK(with.world.run_until([&] { return !with.world.ensemble.exists(late); }));
  CHECK(with.world.run_until_idle(*with.client));
}

TEST_CASE("watch: a wait for it ends at once when another watch takes its object") {
  Following with;
  with.world.make("/other", "");
  Outcome<GetResult, Watch> read;
  Outcome<GetResult, Watch> other;
  with.client->async_get_and_watch(path, {}, read.handler());
  with.client->async_get_and_watch("/other", {}, other.handler());
  REQUIRE(with.world.run_until_arrived(read));
  REQUIRE(with.world.run_until_arrived(other));
  Watch& first = read.result<2>();
  Outcome<WatchEventType> waiting;
  first.async_wait(waiting.handler());
  first = std::move(other.result<2>());
  CHECK(with.world.run_until_arrived(waiting));
  CHECK(waiting.error() == asio::error::operation_aborted);
  CHECK(with.world.run_until([&] { return with.world.ensemble.watches() == 1; }));
  read = {};  // a watch keeps its client's internals alive
}

}  // namespace
}  // namespace custodian::tests::authoring_test
