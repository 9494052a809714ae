// Credentials from a provider function, on real servers.

#include <mutex>
#include <string>

#include "support/test_client.hpp"

namespace custodian::tests::credentials_provider_test {
namespace {

/// The place where a program would keep its password, such as a file.
class Store {
 public:
  [[nodiscard]] std::vector<ClientOptions::Credential> credentials() const {
    const std::lock_guard lock{mutex_};
    return {{"digest", password_}};
  }
  void rotate(std::string password) {
    const std::lock_guard lock{mutex_};
    password_ = std::move(password);
  }

 private:
  mutable std::mutex mutex_;
  std::string password_ = "app:old";
};

ClientOptions with(const Store& store, const std::string& servers) {
  ClientOptions options = options_for(servers);
  options.credentials_provider = [&store] { return store.credentials(); };
  return options;
}

bool opens(Client& client, const std::string& path) {
  return error_of([&] { static_cast<void>(client.get(path)); }) == error_code{};
}

void make_node(const std::string& servers, const std::string& password, const std::string& path) {
  ClientOptions options = options_for(servers);
  options.credentials = {{"digest", password}};
  Client{options}.create(path, "", {.acl = creator_all_acl()});
}

TEST_CASE("a rotated digest reaches the session after the next reconnection") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  make_node(server.connect_string(), "app:old", "/old");
  make_node(server.connect_string(), "app:new", "/new");
  Store store;
  Client client{with(store, server.connect_string())};
  CHECK(opens(client, "/old"));
  CHECK_FALSE(opens(client, "/new"));
  const std::int64_t session = client.session().id;
  store.rotate("app:new");
  server.restart();
  CHECK(eventually([&] { return opens(client, "/new"); }));
  CHECK(client.session().id == session);
  client.close();
}

TEST_CASE("a new session presents the rotated digest alone") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  make_node(server.connect_string(), "app:old", "/old");
  make_node(server.connect_string(), "app:new", "/new");
  Store store;
  Client client{with(store, server.connect_string())};
  CHECK(opens(client, "/old"));
  const std::int64_t session = client.session().id;
  store.rotate("app:new");
  server.expire(client);
  REQUIRE(eventually([&] {
    const std::int64_t now = client.session().id;
    return now != 0 && now != session;
  }));
  CHECK(opens(client, "/new"));
  CHECK_FALSE(opens(client, "/old"));
  client.close();
}

TEST_CASE("a provider that answers late delays the connection, and nothing else") {
  TestClient place{"late-provider"};
  std::mutex gate;
  std::unique_lock closed{gate};
  ClientOptions options = options_for(place.servers());
  options.credentials_provider = [&gate]() -> std::vector<ClientOptions::Credential> {
    const std::lock_guard waits{gate};
    return {{"digest", "app:late"}};
  };
  Client client{options};
  CHECK(error_of([&] {
          static_cast<void>(client.exists("/", {.deadline = std::chrono::milliseconds{50}}));
        }) == Errc::deadline_exceeded);
  CHECK(client.session().id == 0);
  closed.unlock();
  client.wait_connected();
  client.close();
}

}  // namespace
}  // namespace custodian::tests::credentials_provider_test
