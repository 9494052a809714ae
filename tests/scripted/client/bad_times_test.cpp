// Events that reach a client at a bad time: an answer of its credentials provider, a timer, a wait.

#include <algorithm>
#include <map>
#include <stdexcept>

#include "client/client_core.hpp"
#include "client/operation.hpp"
#include "custodian/authoring/bridge.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/result.hpp"
#include "custodian/authoring/spawn.hpp"
#include "scripted/enough_time.hpp"
#include "scripted/noted_session.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::bad_times_test {
namespace {

using namespace std::chrono_literals;

using Credentials = std::vector<SessionSettings::Credential>;
using All = std::vector<Credentials>;

const Credentials first_ones{{"digest", "app:1"}};
const Credentials second_ones{{"digest", "app:2"}};

/// A client whose provider is called when the test says so.
struct Asked {
  Asked() {
    ClientOptions options = world.options("observed");
    options.session_factory = noting(options.session_factory, given);
    options.callback_executor = callbacks.get_executor();
    options.credentials_provider = [this]() -> std::vector<ClientOptions::Credential> {
      ++calls;
      if (fails) throw std::runtime_error{"the store is away"};
      return {{"digest", "app:1"}};
    };
    client = std::make_unique<Client>(world.context.get_executor(), std::move(options));
    core = client->core();
  }
  ~Asked() {
    client.reset();
    CHECK(world.run_until([&] {
      call_back();
      return core.expired();
    }));
  }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  void call_back() {
    callbacks.restart();
    callbacks.poll();
  }
  [[nodiscard]] bool connects() {
    return world.run_until([&] { return is_connected(client->connection_state()); });
  }
  [[nodiscard]] bool reconnects() {
    const std::uint64_t connection = client->session().connection;
    given->session.lock()->disconnect();
    return world.run_until([&] {
      call_back();
      return client->session().connection > connection && is_connected(client->connection_state());
    });
  }

  const std::shared_ptr<Given> given = std::make_shared<Given>();
  int calls = 0;
  bool fails = false;
  boost::asio::io_context callbacks{1};
  World world;
  std::unique_ptr<Client> client;
  std::weak_ptr<detail::ClientCore> core;
};

TEST_CASE("the provider of a client that is closed before its turn is not called") {
  Asked asked;
  asked.world.settle();
  asked.client.reset();
  asked.world.settle();
  asked.call_back();
  CHECK(asked.calls == 0);
  CHECK(asked.given->at_first.empty());
}

TEST_CASE("an answer of the provider that comes when the client is closed begins no session") {
  Asked asked;
  asked.world.settle();
  asked.client.reset();
  asked.call_back();
  CHECK(asked.calls == 1);
  CHECK_NOTHROW(asked.world.settle());
  CHECK(asked.given->at_first.empty());
}

TEST_CASE("the provider is called once though two sessions wait for it") {
  Asked asked;
  asked.world.settle();
  asked.client->set_credentials({{"digest", "app:2"}});
  REQUIRE(asked.connects());
  asked.world.ensemble.expire(asked.client->session().id);
  REQUIRE(asked.world.run_until([&] { return asked.client->session().id == 0; }));
  asked.world.settle();
  asked.call_back();
  REQUIRE(asked.connects());
  asked.call_back();
  CHECK(asked.calls == 1);
  CHECK(asked.given->at_first == All{second_ones, first_ones});
}

TEST_CASE("an answer of the provider that is no news, or none at all, changes no session",
          "[timed]") {
  Asked asked;
  asked.call_back();
  REQUIRE(asked.connects());
  const Deadline deadline{World::limit};
  while (asked.calls < 2 && !deadline.passed()) REQUIRE(asked.reconnects());
  asked.world.settle();
  asked.fails = true;
  while (asked.calls < 3 && !deadline.passed()) REQUIRE(asked.reconnects());
  asked.world.settle();
  CHECK(asked.calls == 3);
  CHECK(asked.given->at_first == All{first_ones});
  CHECK(asked.given->later.empty());
}

TEST_CASE("credentials that are newer than those that were refused are tried at once") {
  World world;
  const auto given = std::make_shared<Given>();
  ClientOptions options = world.options("observed");
  options.session_factory = noting(options.session_factory, given);
  options.credentials = {{"digest", "app:1"}};
  world.ensemble.stop();
  auto client = std::make_unique<Client>(world.context.get_executor(), std::move(options));
  world.settle();
  client->set_credentials({{"digest", "app:2"}});
  world.settle();
  given->observer.lock()->on_state(SessionState::auth_failed, {});
  CHECK(given->at_first == All{first_ones, second_ones});
  world.ensemble.start();
  CHECK(world.run_until([&] { return is_connected(client->connection_state()); }));
  CHECK(given->at_first.size() == 2);
  CHECK(world.end(client));
}

/// Cuts the connection of a client whose deletes pause before their next tries. Returns whether it
/// was connected again before a pause had ended.
bool cut_while_deletes_pause(std::chrono::milliseconds pause) {
  World world;
  ClientOptions options = world.options("observed");
  options.retry = RetryPolicy::n_times(1000, pause);
  auto client = world.client(std::move(options));
  constexpr std::size_t many = 80;
  Faults faults;
  for (std::size_t i = 0; i < many; ++i) {
    world.make("/" + std::to_string(i));
    faults.emplace_back(i, Fault{.kind = FaultKind::throttle});
  }
  // The replies of the next connection are held back.
  faults.emplace_back(many, Fault{.kind = FaultKind::delay});
  const auto plan = std::make_shared<FaultsAt>("observed", std::move(faults));
  std::size_t replies = 0;
  plan->replied = [&](std::size_t) { ++replies; };
  world.ensemble.set_fault_plan(plan);
  const Deadline first_pause_ends{pause};
  for (std::size_t i = 0; i < many; ++i) client->remove_in_background("/" + std::to_string(i));
  REQUIRE(world.run_until([&] { return replies == many; }));
  const std::uint64_t connection = client->session().connection;
  world.ensemble.clear_history();
  world.ensemble.disconnect(client->session().id);
  REQUIRE(world.run_until([&] {
    return client->session().connection > connection && is_connected(client->connection_state());
  }));
  const bool is_early = !first_pause_ends.passed();
  if (is_early) {
    // The first ones are sent again at once, and the others when their pauses end.
    CHECK(world.run_until([&] { return world.ensemble.history().size() >= many; }));
    world.ensemble.release_replies();
    CHECK(world.run_until_idle(*client));
    std::map<std::string, int> sent;
    for (const auto& each : world.ensemble.history()) ++sent[each.path];
    CHECK(sent.size() == many);
    CHECK(std::ranges::all_of(sent, [](const auto& each) { return each.second == 1; }));
  }
  world.ensemble.set_fault_plan(nullptr);
  world.ensemble.release_replies();
  CHECK(world.end(client));
  return is_early;
}

TEST_CASE("a delete whose next try comes while others are sent anew is sent once") {
  play_with_enough_time(100ms, cut_while_deletes_pause);
}

boost::asio::awaitable<Result<void>> pause_for_an_hour(CorePtr core, CancellationPtr cancellation) {
  co_await detail::pause(core, 1h, Deadline::never(), cancellation);
  co_return Result<void>{};
}

TEST_CASE("a pause whose cancellation was requested before it, or within it, ends") {
  World world;
  auto client = world.client("observed");
  const CancellationPtr early = std::make_shared<Cancellation>(client->core());
  const CancellationPtr late = std::make_shared<Cancellation>(client->core());
  early->request();
  world.settle();
  Outcome<> at_once;
  Outcome<> later;
  spawn(client->core(), "a pause", pause_for_an_hour(client->core(), early), at_once.handler());
  spawn(client->core(), "a pause", pause_for_an_hour(client->core(), late), later.handler());
  world.settle();
  CHECK(at_once.arrived());
  CHECK_FALSE(later.arrived());
  late->request();
  CHECK(world.run_until_arrived(later));
  CHECK(world.end(client));
}

TEST_CASE("a wait for another state than a closed client has ends with that state") {
  World world;
  auto client = world.client("observed");
  const CorePtr core = client->core();
  client->close();
  REQUIRE(world.run_until([&] { return client->connection_state() == ConnectionState::closed; }));
  Outcome<ConnectionState> changed;
  start_wait_connection_state(core, nullptr, ConnectionState::connected, changed.handler());
  world.settle();
  REQUIRE(changed.arrived());
  CHECK_FALSE(changed.error());
  CHECK(changed.result() == ConnectionState::closed);
  Outcome<ConnectionState> unchanged;
  start_wait_connection_state(core, nullptr, ConnectionState::closed, unchanged.handler());
  world.settle();
  REQUIRE(unchanged.arrived());
  CHECK(unchanged.error() == Errc::closed);
}

TEST_CASE("servers that are reached with TLS may follow others that are") {
  World world;
  const auto given = std::make_shared<Given>();
  ClientOptions options = world.options("observed");
  options.session_factory = noting(options.session_factory, given);
  options.tls = TlsOptions{};
  try {
    auto client = world.client(options);
    client->set_servers("secure://zk2:2281");
    world.settle();
    CHECK(given->servers.back().find("zk2:2281") != std::string::npos);
    CHECK(world.end(client));
  } catch (const Error& error) {
    // A library that was built without TLS has none.
    CHECK(std::string{error.what()}.find("built without") != std::string::npos);
  }
}

}  // namespace
}  // namespace custodian::tests::bad_times_test
