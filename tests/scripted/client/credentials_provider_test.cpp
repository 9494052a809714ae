// Credentials from a provider function: when it is called, and the effect of its answers and
// failures.

#include <stdexcept>

#include "scripted/noted_session.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::credentials_provider_test {
namespace {

using Credentials = std::vector<SessionSettings::Credential>;
using All = std::vector<Credentials>;

const Credentials first_ones{{"digest", "app:1"}};
const Credentials second_ones{{"digest", "app:2"}};

struct Fixture {
  Fixture() = default;
  ~Fixture() {
    if (client) CHECK(world.end(client));
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  [[nodiscard]] ClientOptions options() {
    ClientOptions options = world.options("observed");
    options.session_factory = noting(options.session_factory, given);
    options.credentials_provider = [this]() -> std::vector<ClientOptions::Credential> {
      ++calls;
      if (fails) throw std::runtime_error{"the store is away"};
      return {{"digest", answer}};
    };
    options.log = [this](LogLevel level, std::string_view line) {
      if (level == LogLevel::error) errors.emplace_back(line);
    };
    return options;
  }
  void begin() { client = std::make_unique<Client>(world.context.get_executor(), options()); }
  [[nodiscard]] bool connects() {
    return world.run_until([&] { return is_connected(client->connection_state()); });
  }
  [[nodiscard]] bool lose_session() {
    const std::size_t sessions = given->at_first.size();
    world.ensemble.expire(client->session().id);
    return world.run_until([&] {
      return given->at_first.size() > sessions && is_connected(client->connection_state());
    });
  }

  const std::shared_ptr<Given> given = std::make_shared<Given>();
  std::string answer = "app:1";
  bool fails = false;
  int calls = 0;
  std::vector<std::string> errors;
  World world;
  std::unique_ptr<Client> client;
};

TEST_CASE("each session begins with the provider's answer of that time") {
  Fixture fixture;
  fixture.begin();
  CHECK(fixture.given->at_first.empty());
  REQUIRE(fixture.connects());
  fixture.answer = "app:2";
  REQUIRE(fixture.lose_session());
  CHECK(fixture.given->at_first == All{first_ones, second_ones});
  CHECK(fixture.given->later.empty());
  CHECK(fixture.calls == 2);
}

TEST_CASE("after a reconnection another answer of the provider reaches the session that stands") {
  Fixture fixture;
  fixture.begin();
  REQUIRE(fixture.connects());
  const std::int64_t session = fixture.client->session().id;
  const auto began = std::chrono::steady_clock::now();
  const auto reconnect = [&] {
    const std::uint64_t connection = fixture.client->session().connection;
    fixture.given->session.lock()->disconnect();
    return fixture.world.run_until([&] {
      return fixture.client->session().connection > connection &&
             is_connected(fixture.client->connection_state());
    });
  };
  // The provider is called at most once a second: most reconnections do not call it.
  for (int i = 0; i < 20; ++i) REQUIRE(reconnect());
  CHECK(fixture.given->later.empty());
  fixture.answer = "app:2";
  const Deadline deadline{World::limit};
  while (fixture.given->later.empty() && !deadline.passed()) REQUIRE(reconnect());
  CHECK(fixture.given->later == All{second_ones});
  CHECK(fixture.client->session().id == session);
  const auto seconds =
      std::chrono::ceil<std::chrono::seconds>(std::chrono::steady_clock::now() - began);
  CHECK(fixture.calls <= 1 + seconds.count());
}

TEST_CASE("no session begins before the provider has an answer") {
  Fixture fixture;
  fixture.fails = true;
  fixture.begin();
  Outcome<std::optional<Stat>> looked;
  fixture.client->async_exists("/a", {}, looked.handler());
  REQUIRE(fixture.world.run_until([&] { return fixture.calls == 2; }));
  CHECK(fixture.given->at_first.empty());
  CHECK_FALSE(looked.arrived());
  // The failure is logged only once.
  CHECK(fixture.errors ==
        std::vector<std::string>{"the credentials provider failed: the store is away"});
  fixture.fails = false;
  REQUIRE(fixture.world.run_until_arrived(looked));
  CHECK_FALSE(looked.error());
  CHECK(fixture.given->at_first == All{first_ones});
}

TEST_CASE("a provider that fails later leaves the client with the answer before") {
  Fixture fixture;
  fixture.begin();
  REQUIRE(fixture.connects());
  fixture.fails = true;
  REQUIRE(fixture.lose_session());
  CHECK(fixture.given->at_first == All{first_ones, first_ones});
  CHECK(fixture.errors.size() == 1);
}

TEST_CASE("an answer that credentials could not have is a failure, and is not in the log") {
  Fixture fixture;
  fixture.answer = "secret";
  fixture.begin();
  REQUIRE(fixture.world.run_until([&] { return !fixture.errors.empty(); }));
  CHECK(fixture.errors.front().find("user:password") != std::string::npos);
  CHECK(fixture.errors.front().find("secret") == std::string::npos);
  CHECK(fixture.given->at_first.empty());
}

TEST_CASE("credentials given by hand do where the provider has none") {
  Fixture fixture;
  fixture.fails = true;
  fixture.begin();
  REQUIRE(fixture.world.run_until([&] { return fixture.calls == 1; }));
  fixture.client->set_credentials({{"digest", "app:2"}});
  REQUIRE(fixture.connects());
  CHECK(fixture.given->at_first == All{second_ones});
}

TEST_CASE("the provider is asked again when the servers have refused its answer") {
  Fixture fixture;
  fixture.world.ensemble.stop();
  fixture.begin();
  REQUIRE(fixture.world.run_until([&] { return fixture.given->at_first.size() == 1; }));
  fixture.given->observer.lock()->on_state(SessionState::auth_failed, {});
  fixture.answer = "app:2";
  // After a refusal the next session waits five seconds.
  REQUIRE(fixture.world.run_until([&] { return fixture.given->at_first.size() == 2; }));
  fixture.world.ensemble.start();
  CHECK(fixture.connects());
  CHECK(fixture.given->at_first == All{first_ones, second_ones});
}

TEST_CASE("after a newer answer is refused the next session begins with the answer before") {
  Fixture fixture;
  fixture.begin();
  REQUIRE(fixture.connects());
  const auto looked = run<std::optional<Stat>>(
      fixture.world, [&](auto done) { fixture.client->async_exists("/a", {}, done); });
  REQUIRE(looked.arrived());
  fixture.answer = "app:2";
  fixture.world.ensemble.expire(fixture.client->session().id);
  REQUIRE(fixture.world.run_until([&] { return fixture.given->at_first.size() == 2; }));
  fixture.given->observer.lock()->on_state(SessionState::auth_failed, {});
  CHECK(fixture.given->at_first == All{first_ones, second_ones, first_ones});
  CHECK(fixture.connects());
  // The provider is not called in between: it would give the same answer again.
  CHECK(fixture.calls == 2);
}

TEST_CASE("a newer answer is not blamed for an identity that the servers refuse") {
  Fixture fixture;
  fixture.begin();
  REQUIRE(fixture.connects());
  const auto looked = run<std::optional<Stat>>(
      fixture.world, [&](auto done) { fixture.client->async_exists("/a", {}, done); });
  REQUIRE(looked.arrived());
  fixture.answer = "app:2";
  fixture.world.ensemble.expire(fixture.client->session().id);
  REQUIRE(fixture.world.run_until([&] { return fixture.given->at_first.size() == 2; }));
  fixture.given->observer.lock()->on_state(SessionState::identity_refused, {});
  CHECK(fixture.given->at_first.size() == 2);
  REQUIRE(fixture.world.run_until([&] { return fixture.given->at_first.size() == 3; }));
  CHECK(fixture.given->at_first == All{first_ones, second_ones, second_ones});
  CHECK(fixture.connects());
}

TEST_CASE("servers that ask for another authentication end the operations with that error") {
  Fixture fixture;
  fixture.world.ensemble.stop();
  fixture.begin();
  REQUIRE(fixture.world.run_until([&] { return fixture.given->at_first.size() == 1; }));
  Outcome<std::optional<Stat>> looked;
  fixture.client->async_exists("/a", {}, looked.handler());
  fixture.world.settle();
  fixture.given->observer.lock()->on_state(SessionState::auth_required, {});
  REQUIRE(fixture.world.run_until_arrived(looked));
  CHECK(looked.error() == ServerErrc::session_closed_require_sasl_auth);
  REQUIRE(fixture.world.run_until([&] { return !fixture.errors.empty(); }));
  CHECK(fixture.errors.front().find("credentials for digest only") != std::string::npos);
  CHECK(fixture.errors.front().find("app:1") == std::string::npos);
}

TEST_CASE("a client closes while its provider has no answer yet") {
  Fixture fixture;
  fixture.fails = true;
  fixture.begin();
  REQUIRE(fixture.world.run_until([&] { return fixture.calls == 1; }));
  fixture.client->close();
  CHECK(fixture.world.run_until(
      [&] { return fixture.client->connection_state() == ConnectionState::closed; }));
  CHECK(fixture.given->at_first.empty());
}

TEST_CASE("credentials and a provider of credentials exclude each other") {
  Fixture fixture;
  ClientOptions options = fixture.options();
  options.credentials = {{"digest", "app:1"}};
  CHECK_THROWS_AS(validate(options), Error);
}

}  // namespace
}  // namespace custodian::tests::credentials_provider_test
