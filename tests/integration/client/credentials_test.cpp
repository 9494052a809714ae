// Credentials that are replaced while a client lives, on real servers.

#include <algorithm>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "support/in_child.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::credentials_test {
namespace {

using namespace std::chrono_literals;
using Credentials = std::vector<ClientOptions::Credential>;

const Credentials old_ones{{"digest", "app:old"}};
const Credentials new_ones{{"digest", "app:new"}};
const Credentials both{{"digest", "app:old"}, {"digest", "app:new"}};
/// Credentials of a scheme that no server knows.
const Credentials refused{{"digset", "app:new"}};

class Lines {
 public:
  [[nodiscard]] LogSink sink() {
    return [this](LogLevel, std::string_view line) {
      const std::lock_guard lock{mutex_};
      lines_.emplace_back(line);
    };
  }
  [[nodiscard]] std::ptrdiff_t count(std::string_view part) const {
    const std::lock_guard lock{mutex_};
    return std::ranges::count_if(
        lines_, [&](const std::string& line) { return line.find(part) != std::string::npos; });
  }
  [[nodiscard]] bool have(std::string_view part) const { return count(part) > 0; }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

ClientOptions with(const Credentials& credentials, const std::string& root) {
  ClientOptions options = options_for(connect_string());
  options.name_space = root;
  options.credentials = credentials;
  return options;
}

/// Returns the ACL that names the owners of these credentials.
Acl acl_of(const Credentials& credentials, TestClient& place, const std::string& path) {
  Client owner{with(credentials, place.root())};
  owner.create(path, "", {.acl = creator_all_acl()});
  return owner.get_acl(path);
}

bool opens(Client& client, const std::string& path) {
  try {
    static_cast<void>(client.get(path));
    return true;
  } catch (const Error& error) {
    if (error.code() != ServerErrc::no_auth) throw;
    return false;
  }
}

struct Nodes {
  explicit Nodes(std::string_view test) : place{test} {
    place->create("/root");
    static_cast<void>(acl_of(old_ones, place, "/old"));
    static_cast<void>(acl_of(new_ones, place, "/new"));
  }
  TestClient place;
};

void lose_session(Client& client) {
  const SessionInfo session = client.session();
  testing::expire_session(server_endpoint(), session.id, session.password);
  REQUIRE(eventually([&] {
    const std::int64_t now = client.session().id;
    return now != 0 && now != session.id;
  }));
}

TEST_CASE("new credentials open what the old ones do not, in the session that stands") {
  Nodes nodes{"new-credentials"};
  Lines lines;
  ClientOptions options = with(old_ones, nodes.place.root());
  options.log = lines.sink();
  Client client{options};
  CHECK(opens(client, "/old"));
  CHECK_FALSE(opens(client, "/new"));
  const SessionInfo before = client.session();

  client.set_credentials(new_ones);
  CHECK(eventually([&] { return opens(client, "/new"); }));
  CHECK(eventually([&] { return lines.have("the new credentials are presented"); }));
  // A session keeps the credentials that it has presented: they cannot be withdrawn.
  CHECK(opens(client, "/old"));
  CHECK(client.session().id == before.id);
  CHECK(client.session().connection == before.connection);
  client.close();
}

TEST_CASE("a client that is idle presents new credentials, too") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  // A session so long that no ping is due within this test.
  const Server server{{.max_session_timeout = 2h}};
  Lines lines;
  ClientOptions options = options_for(server.connect_string());
  options.credentials = old_ones;
  options.session_timeout = 1h;
  options.connect_timeout = 500ms;
  options.log = lines.sink();
  Client client{options};
  client.wait_connected();
  // The timer that has watched over the attempt to connect may still wake the client once.
  std::this_thread::sleep_for(2 * options.connect_timeout);
  client.set_credentials(new_ones);
  CHECK(eventually([&] { return lines.have("the new credentials are presented"); }));
}

TEST_CASE("later sessions present the new credentials alone") {
  Nodes nodes{"later-session"};
  Client client{with(old_ones, nodes.place.root())};
  client.set_credentials(new_ones);
  REQUIRE(eventually([&] { return opens(client, "/new"); }));
  lose_session(client);
  CHECK(opens(client, "/new"));
  CHECK_FALSE(opens(client, "/old"));
}

TEST_CASE("new credentials are presented on later connections of the session, too") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  ClientOptions options = options_for(server.connect_string());
  options.credentials = new_ones;
  Client{options}.create("/new", "", {.acl = creator_all_acl()});
  options.credentials = old_ones;
  Client client{options};
  client.set_credentials(new_ones);
  REQUIRE(eventually([&] { return opens(client, "/new"); }));
  const SessionInfo before = client.session();
  server.restart();
  CHECK(opens(client, "/new"));
  CHECK(client.session().id == before.id);
  CHECK(client.session().connection > before.connection);
}

TEST_CASE("credentials given without a connection are presented on the next one") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  ClientOptions options = options_for(server.connect_string());
  options.credentials = new_ones;
  Client{options}.create("/new", "", {.acl = creator_all_acl()});
  options.credentials = old_ones;
  Client client{options};
  client.wait_connected();
  const std::int64_t session = client.session().id;
  server.kill();
  REQUIRE(eventually([&] { return !is_connected(client.connection_state()); }));
  client.set_credentials(new_ones);
  server.restart();
  CHECK(eventually([&] { return opens(client, "/new"); }));
  CHECK(client.session().id == session);
}

TEST_CASE("credentials are rotated under a held lock") {
  Nodes nodes{"rotation"};
  const Acl acl_of_both = acl_of(both, nodes.place, "/both");
  const auto member = [&](const Credentials& credentials) {
    ClientOptions options = with(credentials, nodes.place.root());
    options.acl_provider = [acl_of_both](std::string_view) { return Acl{acl_of_both}; };
    return options;
  };
  Client holder{member(old_ones)};
  Client waiter{member(old_ones)};
  InterProcessMutex mutex{holder, "/root/lock"};
  InterProcessMutex waiters_mutex{waiter, "/root/lock"};
  Lease lease = mutex.acquire();
  Outcome<Lease> next;
  waiters_mutex.async_acquire(next.handler());

  for (Client* each : {&holder, &waiter}) {
    each->set_credentials(both);
    REQUIRE(eventually([&] { return opens(*each, "/new"); }));
  }
  for (Client* each : {&holder, &waiter}) each->set_credentials(new_ones);
  CHECK(lease.state() == LeaseState::held);
  lease.release();
  auto granted = next.future();
  REQUIRE(granted.wait_for(patience) == std::future_status::ready);
  auto [error, second] = granted.get();
  CHECK_FALSE(error);
  second.release();

  // The next session has only the new credentials, and the lock still works.
  lose_session(holder);
  CHECK_FALSE(opens(holder, "/old"));
  mutex.acquire().release();
}

TEST_CASE("new credentials that the servers refuse cost a session that stands nothing") {
  Nodes nodes{"refused-credentials"};
  Lines lines;
  ClientOptions options = with(old_ones, nodes.place.root());
  options.log = lines.sink();
  Client client{options};
  InterProcessMutex mutex{client, "/root/lock"};
  Lease lease = mutex.acquire();
  const SessionInfo before = client.session();

  client.set_credentials(refused);
  REQUIRE(eventually([&] { return lines.have("the servers refuse the new credentials"); }));
  CHECK(opens(client, "/old"));
  CHECK(client.session().id == before.id);
  CHECK(client.session().connection == before.connection);
  CHECK(lease.state() == LeaseState::held);
  lease.release();

  // Later sessions do not present them either.
  lose_session(client);
  CHECK(opens(client, "/old"));
  CHECK(lines.count("the servers refuse the new credentials") == 1);
  client.set_credentials(new_ones);
  CHECK(eventually([&] { return opens(client, "/new"); }));
  client.close();
}

TEST_CASE("new credentials do not get in the way of a request that is half sent") {
  Nodes nodes{"half-sent"};
  testing::FaultProxy proxy{client_endpoint()};
  ClientOptions options = with(old_ones, nodes.place.root());
  options.servers = proxy.connect_string();
  Client client{options};
  client.create("/root/large");
  const SessionInfo before = client.session();
  // The writes are much more data than the kernel's buffers take, and need a second or two. The
  // connection on which the new credentials are tried has the same bandwidth to itself.
  proxy.throttle(testing::Direction::to_server, std::uint64_t{8} << 20U);
  std::vector<std::future<std::tuple<error_code, Stat>>> writes;
  for (int i = 0; i < 20; ++i) {
    Outcome<Stat> written;
    writes.push_back(written.future());
    client.async_set("/root/large", std::string(1'000'000, 'x'), SetOptions{}, written.handler());
  }
  client.set_credentials(new_ones);
  for (auto& each : writes) {
    REQUIRE(each.wait_for(patience) == std::future_status::ready);
    CHECK_FALSE(std::get<0>(each.get()));
  }
  proxy.heal();
  CHECK(eventually([&] { return opens(client, "/new"); }));
  CHECK(client.session().id == before.id);
  CHECK(client.session().connection == before.connection);
}

TEST_CASE("the newest of several credentials given at once are the client's") {
  Nodes nodes{"many-credentials"};
  Client client{with(old_ones, nodes.place.root())};
  client.wait_connected();
  for (int i = 0; i < 20; ++i) {
    client.set_credentials({{"digest", "app:" + std::to_string(i)}});
    client.set_credentials(refused);
  }
  client.set_credentials(new_ones);
  CHECK(eventually([&] { return opens(client, "/new"); }));
  lose_session(client);
  CHECK(opens(client, "/new"));
}

TEST_CASE("a client whose credentials were refused goes on with others") {
  Nodes nodes{"mended-credentials"};
  Client client{with(refused, nodes.place.root())};
  CHECK(error_of([&] { static_cast<void>(client.get("/root")); }) == ServerErrc::auth_failed);
  client.set_credentials(new_ones);
  CHECK(opens(client, "/new"));
}

TEST_CASE(
    "credentials are examined before they are taken, and closed or forked clients take none") {
  TestClient client{"wrong-credentials"};
  client->wait_connected();
  CHECK(error_of([&] { client->set_credentials({{"", "app:new"}}); }) == Errc::invalid_argument);
  CHECK(error_of([&] { client->set_credentials({{"digest", "new"}}); }) == Errc::invalid_argument);
  const std::string large(std::size_t{1} << 20U, 'x');
  CHECK(error_of([&] {
          client->set_credentials({{"digest", "app:" + large}});
        }) == Errc::invalid_argument);

  CHECK(in_child([&] {
    const bool thrown = error_of([&] { client->set_credentials(new_ones); }) == Errc::forked;
    return thrown;
  }));

  client->close();
  client->set_credentials(new_ones);
}

}  // namespace
}  // namespace custodian::tests::credentials_test
