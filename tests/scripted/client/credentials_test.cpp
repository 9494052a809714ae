// Credentials that change while a client lives: which of its sessions have which.

#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::credentials_test {
namespace {

using Credentials = std::vector<SessionSettings::Credential>;
using All = std::vector<Credentials>;

const Credentials old_ones{{"digest", "app:old"}};
const Credentials new_ones{{"digest", "app:new"}};

/// The credentials that a client's sessions began with, and got later.
struct Given {
  std::vector<Credentials> at_first;
  std::vector<Credentials> later;
  std::weak_ptr<SessionObserver> observer;  ///< of the newest
};

/// A session that notes its credentials, and passes everything on.
class Noted final : public Session {
 public:
  Noted(std::shared_ptr<Session> session, std::shared_ptr<Given> given)
      : session_{std::move(session)}, given_{std::move(given)} {}

  void start() override { session_->start(); }
  void submit(Request request, ReplyHandler handler) override {
    session_->submit(std::move(request), std::move(handler));
  }
  void unwatch(const std::shared_ptr<Watcher>& watcher) override { session_->unwatch(watcher); }
  void close(std::chrono::milliseconds grace, std::function<void()> done) override {
    session_->close(grace, std::move(done));
  }
  void retire() override { session_->retire(); }
  void disconnect() override { session_->disconnect(); }
  void set_servers(std::string servers) override { session_->set_servers(std::move(servers)); }
  void set_credentials(Credentials credentials) override {
    given_->later.push_back(std::move(credentials));
  }
  [[nodiscard]] Load load() const override { return session_->load(); }

 private:
  const std::shared_ptr<Session> session_;
  const std::shared_ptr<Given> given_;
};

struct Fixture {
  Fixture() {
    ClientOptions options = world.options("observed");
    options.credentials = {{"digest", "app:old"}};
    options.session_factory = [make = options.session_factory, noted = given](
                                  auto strand, SessionSettings settings, auto observer) {
      noted->at_first.push_back(settings.credentials);
      noted->observer = observer;
      return std::make_shared<Noted>(make(strand, std::move(settings), observer), noted);
    };
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
  // The session ends before the servers have accepted or refused the new ones.
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
