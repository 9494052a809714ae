#include "custodian/leader/leader_selector.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <condition_variable>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "integration/leader/leadership.hpp"

namespace custodian::tests::leader_selector_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using Requeue = LeaderSelectorOptions::Requeue;

constexpr auto path = "/election";

/// A selector's function that leads until it is asked to stop, and counts its calls.
struct Reign {
  std::atomic<int> begun = 0;
  std::atomic<int> ended = 0;
  std::mutex mutex{};
  std::vector<FencingToken> tokens{};

  auto function() {
    return [this](const Lease& leadership, const std::stop_token& stop) {
      {
        const std::lock_guard lock{mutex};
        tokens.push_back(leadership.token());
      }
      ++begun;
      std::mutex own;
      std::condition_variable_any asked;
      std::unique_lock lock{own};
      asked.wait(lock, stop, [] { return false; });
      ++ended;
    };
  }
};

TEST_CASE("a function runs while it leads, once, and others lead when it has returned") {
  TestClient root{"selector-once"};
  std::atomic<int> runs = 0;
  std::atomic<int> at_once = 0;
  std::atomic<bool> together = false;
  const auto work = [&](const Lease& leadership, std::stop_token) {
    if (++at_once > 1 || leadership.state() != LeaseState::held) together = true;
    ++runs;
    --at_once;
  };
  std::list<Client> clients;
  std::list<LeaderSelector> selectors;
  for (int i = 0; i < 5; ++i) {
    selectors.emplace_back(clients.emplace_back(beside(root)), path, work);
    selectors.back().start();
  }
  CHECK(eventually([&] { return runs == 5; }));
  CHECK_FALSE(together);
  CHECK(eventually([&] { return names_below(*root, path).empty(); }));
  CHECK(runs == 5);
}

TEST_CASE("a selector stands again when it is asked to, and always if it is told so") {
  TestClient root{"selector-requeue"};
  std::atomic<int> runs = 0;
  LeaderSelector selector{*root, path, [&](const Lease&, std::stop_token) { ++runs; }};
  CHECK(error_of([&] { selector.requeue(); }) == Errc::invalid_argument);
  selector.start();
  CHECK(error_of([&] { selector.start(); }) == Errc::invalid_argument);
  for (int times = 1; times <= 3; ++times) {
    REQUIRE(eventually([&] { return runs == times; }));
    CHECK(selector.requeue());
  }
  selector.close();
  CHECK_FALSE(selector.requeue());
  CHECK(error_of([&] { selector.start(); }) == Errc::closed);

  std::atomic<int> rounds = 0;
  LeaderSelector always{
      *root, path, [&](const Lease&, std::stop_token) { ++rounds; }, {.requeue = Requeue::always}};
  always.start();
  CHECK(eventually([&] { return rounds >= 5; }));
}

TEST_CASE("the leadership goes round among selectors that always stand again") {
  TestClient root{"selector-fair"};
  std::atomic<bool> over = false;
  std::list<Client> clients;
  std::array<std::atomic<int>, 3> turns{};
  std::list<LeaderSelector> selectors;
  for (auto& mine : turns) {
    selectors.emplace_back(
        clients.emplace_back(beside(root)), path,
        [&](const Lease&, const std::stop_token&) {
          // Each turn lasts until another selector is a candidate, too.
          static_cast<void>(
              eventually([&] { return over || selectors.back().participants().size() >= 2; }));
          ++mine;
        },
        LeaderSelectorOptions{.requeue = Requeue::always});
  }
  for (LeaderSelector& each : selectors) each.start();
  CHECK(eventually([&] { return std::ranges::all_of(turns, [](auto& n) { return n >= 3; }); }));
  over = true;
  for (LeaderSelector& each : selectors) each.close();
  for (LeaderSelector& each : selectors) each.join();
}

TEST_CASE("an interrupted function is asked to stop, as often as somebody likes") {
  TestClient root{"selector-interrupted"};
  Reign reign;
  LeaderSelector selector{*root, path, reign.function(), {.requeue = Requeue::always}};
  CHECK_FALSE(selector.interrupt_leadership());
  selector.start();
  for (int times = 1; times <= 3; ++times) {
    REQUIRE(eventually([&] { return reign.begun >= times; }));
    CHECK(selector.interrupt_leadership());
    static_cast<void>(selector.interrupt_leadership());  // may interrupt the same turn again
    REQUIRE(eventually([&] { return reign.ended >= times; }));
    if (reign.begun > times) break;
  }
  selector.close();
  selector.join();
  CHECK(reign.begun == reign.ended);
  CHECK(std::ranges::is_sorted(reign.tokens, std::less_equal{}));
}

TEST_CASE("a leader that loses the leadership is asked to stop") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestClient root{"selector-lost"};
  Client client{beside(root)};
  Reign reign;
  LeaderSelector selector{client, path, reign.function(), {.requeue = Requeue::always}};
  selector.start();
  REQUIRE(eventually([&] { return reign.begun == 1; }));
  root->remove(selector.leader()->node);
  REQUIRE(eventually([&] { return reign.ended == 1; }));
  REQUIRE(eventually([&] { return reign.begun == 2; }));
  const SessionInfo session = client.session();
  own_server().expire_session(session.id, session.password);
  REQUIRE(eventually([&] { return reign.ended == 2; }));
  REQUIRE(eventually([&] { return reign.begun == 3; }));
  CHECK(selector.has_leadership());
  selector.close();
  selector.join();
  CHECK_FALSE(selector.has_leadership());
  CHECK(reign.ended == 3);
}

TEST_CASE("a leadership that is lost before the function begins does not begin it") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestClient root{"selector-lost-early"};
  Client client{beside(root)};
  asio::thread_pool busy{1};
  std::atomic<bool> go = false;
  asio::post(busy, [&] { static_cast<void>(eventually([&] { return go.load(); })); });
  std::atomic<int> runs = 0;
  std::atomic<int> lost = 0;
  {
    LeaderSelector selector{client,
                            path,
                            [&](const Lease& leadership, std::stop_token) {
                              if (leadership.state() == LeaseState::lost) ++lost;
                              ++runs;
                            },
                            {.executor = busy.get_executor()}};
    selector.start();
    REQUIRE(eventually([&] { return selector.leader().has_value(); }));
    const SessionInfo session = client.session();
    own_server().expire_session(session.id, session.password);
    REQUIRE(eventually([&] {
      const auto now = client.session().id;
      return now != 0 && now != session.id;
    }));
    go = true;
    // The function had no turn, so the selector is a candidate again.
    CHECK(eventually([&] { return runs == 1; }));
  }
  busy.join();
  CHECK(lost == 0);
}

TEST_CASE("what a function throws is told, and lets others lead") {
  TestClient root{"selector-throws"};
  std::atomic<int> told = 0;
  std::atomic<int> runs = 0;
  LeaderSelectorOptions options{.requeue = Requeue::always};
  options.on_exception = [&](const std::exception_ptr& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::runtime_error& error) {
      if (std::string_view{error.what()} == "not today") ++told;
    }
  };
  LeaderSelector selector{*root, path,
                          [&](const Lease&, std::stop_token) {
                            if (++runs < 3) throw std::runtime_error{"not today"};
                          },
                          options};
  selector.start();
  CHECK(eventually([&] { return runs >= 3 && told == 2; }));
}

TEST_CASE("a coroutine leads on its executor, and is asked to stop") {
  TestClient root{"selector-coroutine"};
  asio::thread_pool pool{2};
  std::atomic<int> begun = 0;
  std::atomic<int> ended = 0;
  {
    LeaderSelector selector{
        *root,
        path,
        // The selector keeps the lambda while its coroutine runs.
        // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
        [&](Lease leadership, std::stop_token stop) -> asio::awaitable<void> {
          if (leadership.state() == LeaseState::held) ++begun;
          auto timer = asio::steady_timer{co_await asio::this_coro::executor, 1ms};
          while (!stop.stop_requested()) {
            timer.expires_after(1ms);
            co_await timer.async_wait(asio::use_awaitable);
          }
          ++ended;
        },
        {.executor = pool.get_executor()}};
    selector.start();
    REQUIRE(eventually([&] { return begun == 1; }));
    CHECK(selector.interrupt_leadership());
    REQUIRE(eventually([&] { return ended == 1; }));
    CHECK(selector.requeue());
    REQUIRE(eventually([&] { return begun == 2; }));
    selector.close();
    auto joined = tests::begun<>([&](auto done) { selector.async_join(done); });
    CHECK_FALSE(std::get<0>(joined.get()));
    CHECK(ended == 2);
  }
  pool.join();
}

TEST_CASE("a selector's destruction waits for its function, and leaves no node") {
  TestClient root{"selector-destroyed"};
  for (int round = 0; round < 10; ++round) {
    Reign reign;
    {
      LeaderSelector selector{*root, path, reign.function()};
      selector.start();
      if (round % 2 == 0) REQUIRE(eventually([&] { return reign.begun == 1; }));
    }
    CHECK(reign.begun == reign.ended);
  }
  CHECK(eventually([&] { return names_below(*root, path).empty(); }));
}

TEST_CASE("a selector that is destroyed at any moment takes nothing to where it was") {
  TestClient root{"selector-destroyed-early"};
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> runs = 0;
    LeaderSelector selector{*root, path, [&](const Lease&, std::stop_token) { ++runs; }};
    selector.start();
    std::this_thread::sleep_for(std::chrono::microseconds{round * 20});
  }
  CHECK(eventually([&] { return names_below(*root, path).empty(); }));
}

TEST_CASE("a coroutine does not begin on the client's strand") {
  TestClient root{"selector-strand"};
  asio::io_context context;
  ClientOptions options = beside(root);
  Client client{context.get_executor(), options};
  std::atomic<bool> on_strand = true;
  LeaderSelector selector{client, path,
                          // The selector keeps the lambda while its coroutine runs.
                          // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
                          [&](Lease, std::stop_token) -> asio::awaitable<void> {
                            const asio::any_io_executor executor = client.get_executor();
                            const auto* strand =
                                executor.target<asio::strand<asio::any_io_executor>>();
                            REQUIRE(strand != nullptr);
                            on_strand = strand->running_in_this_thread();
                            context.stop();
                            co_return;
                          }};
  selector.start();
  context.run_for(patience);
  CHECK_FALSE(on_strand);
  // The selector is still reading its node, and the context keeps that request until it runs again.
  client.close();
  context.restart();
  context.run_for(patience);
}

TEST_CASE("a connection that flaps around the create leaves no ghost") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::FaultProxy proxy{own_server().endpoint()};
  TestClient root{"selector-flapping"};
  Client client{beside(root, proxy.connect_string())};
  std::atomic<int> runs = 0;
  {
    LeaderSelector selector{
        client, path, [&](const Lease&, std::stop_token) { ++runs; }, {.requeue = Requeue::always}};
    selector.start();
    for (int cut = 0; cut < 20; ++cut) {
      const int before = runs;
      proxy.cut();
      REQUIRE(eventually([&] { return runs > before; }));
    }
  }
  CHECK(eventually([&] { return names_below(*root, path).empty(); }));
}

TEST_CASE("ids of selectors are told to others, and a mutex at the path stands in the same queue") {
  TestClient root{"selector-ids"};
  Reign reign;
  LeaderSelector first{*root, path, reign.function(), {.candidate = {.id = "first"}}};
  CHECK(first.id() == "first");
  CHECK_FALSE(first.leader());
  first.start();
  REQUIRE(eventually([&] { return reign.begun == 1; }));
  Client other{beside(root)};
  InterProcessMutex mutex{other, path};
  auto waiting = begun<Lease>([&](auto done) { mutex.async_acquire(done); });
  REQUIRE(eventually([&] { return first.participants().size() == 2; }));
  CHECK(first.leader()->identity == "first");
  first.close();
  CHECK_FALSE(std::get<0>(waiting.get()));
}

TEST_CASE("a draining client asks its selector's function to stop") {
  TestClient root{"selector-drained"};
  Client client{beside(root)};
  Reign reign;
  LeaderSelector selector{client, path, reign.function(), {.requeue = Requeue::always}};
  selector.start();
  REQUIRE(eventually([&] { return reign.begun == 1; }));
  CHECK(client.close(Deadline{patience}));
  CHECK(reign.ended == 1);
}

}  // namespace
}  // namespace custodian::tests::leader_selector_test
