// Credentials that are replaced while a client lives: which of its sessions use which.

#include "scripted/noted_session.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::credentials_test {
namespace {

using Credentials = std::vector<SessionSettings::Credential>;
using All = std::vector<Credentials>;

const Credentials old_ones{{"digest", "app:old"}};
const Credentials new_ones{{"digest", "app:new"}};

struct Fixture {
  Fixture() {
    ClientOptions options = world.options("observed");
    options.credentials = {{"digest", "app:old"}};
    options.session_factory = noting(options.session_factory, given);
    client = world.client(options);
  }
  ~Fixture() { CHECK(world.end(client)); }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  void replace() {
    client->set_credentials({{"digest", "app:new"}});
    world.settle();
  }
  void lose_session() {
    world.ensemble.expire(client->session().id);
    const std::size_t sessions = given->at_first.size();
    CHECK(world.run_until([&] {
      return given->at_first.size() > sessions && is_connected(client->connection_state());
    }));
  }

  const std::shared_ptr<Given> given = std::make_shared<Given>();
  World world;
  std::unique_ptr<Client> client;
};

TEST_CASE("a session is told of new credentials, and later ones begin with them") {
  Fixture fixture;
  CHECK(fixture.given->at_first == All{old_ones});
  fixture.replace();
  CHECK(fixture.given->later == All{new_ones});
  fixture.lose_session();
  CHECK(fixture.given->at_first == All{old_ones, new_ones});
}

TEST_CASE("later sessions begin without the credentials that the servers refuse") {
  Fixture fixture;
  fixture.replace();
  fixture.given->observer.lock()->on_credentials_refused(old_ones);
  fixture.lose_session();
  CHECK(fixture.given->at_first == All{old_ones, old_ones});
}

TEST_CASE(
    "a session that is refused with new credentials is followed by one with the earlier ones") {
  Fixture fixture;
  REQUIRE(
      fixture.world.run_until([&] { return is_connected(fixture.client->connection_state()); }));
  // The session ends before the servers have accepted or refused the new credentials.
  fixture.replace();
  fixture.world.ensemble.expire(fixture.client->session().id);
  REQUIRE(fixture.world.run_until([&] { return fixture.given->at_first.size() == 2; }));
  fixture.given->observer.lock()->on_state(SessionState::auth_failed, {});
  CHECK(fixture.given->at_first == All{old_ones, new_ones, old_ones});
  CHECK(fixture.world.run_until([&] { return is_connected(fixture.client->connection_state()); }));
}

TEST_CASE("a client whose credentials were refused begins at once with those that it is given") {
  Fixture fixture;
  fixture.given->observer.lock()->on_state(SessionState::auth_failed, {});
  fixture.replace();
  CHECK(fixture.given->later.empty());
  CHECK(fixture.given->at_first == All{old_ones, new_ones});
  CHECK(fixture.world.run_until([&] { return is_connected(fixture.client->connection_state()); }));
}

TEST_CASE("a closed client takes no credentials") {
  Fixture fixture;
  fixture.client->close();
  fixture.world.settle();
  fixture.replace();
  CHECK(fixture.given->later.empty());
}

}  // namespace
}  // namespace custodian::tests::credentials_test
