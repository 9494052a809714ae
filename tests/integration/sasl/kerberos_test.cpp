// Servers that authenticate clients by Kerberos, with a KDC of the test's own.

#include <cstdlib>
#include <future>
#include <string>
#include <thread>

#include "custodian/testing/fault_proxy.hpp"
#include "integration/sasl/kerberos_realm.hpp"
#include "integration/tls/tls_fixture.hpp"

/// Skips a test where there can be no KDC; its first line. The test counts as skipped.
#define CUSTODIAN_REQUIRES_A_KDC()                                       \
  do {                                                                   \
    if (const auto why = KerberosRealm::missing()) CUSTODIAN_SKIP(*why); \
  } while (false)

namespace custodian::tests::kerberos_test {
namespace {

using namespace std::chrono_literals;
using testing::FaultProxy;
using testing::TestingServer;

testing::TestingServerOptions with_keytab(const KerberosRealm& realm) {
  testing::TestingServerOptions options;
  options.jaas =
      "Server {\n"
      "  com.sun.security.auth.module.Krb5LoginModule required\n"
      "  useKeyTab=true storeKey=true useTicketCache=false\n"
      "  keyTab=\"" +
      realm.server_keytab() +
      "\"\n"
      "  principal=\"zookeeper/localhost@CUSTODIAN.TEST\";\n"
      "};\n";
  options.java_options = {"-Djava.security.krb5.conf=" + realm.configuration()};
  return options;
}

/// The address by the name to which the server's principal belongs.
std::string at_localhost(const testing::ServerEndpoint& endpoint) {
  return "localhost:" + std::to_string(endpoint.port);
}

ClientOptions with_cache(const std::string& cache, const std::string& servers) {
  ClientOptions options = plain_options_for(servers);
  options.sasl.emplace();
  options.sasl->credential_cache = cache;
  return options;
}

/// A client that gets its tickets by itself.
ClientOptions with_key(const std::string& servers, const std::string& keytab) {
  ClientOptions options;
  options.servers = servers;
  options.sasl = SaslOptions{.client_keytab = keytab};
  return options;
}

Acl only_for(const std::string& user) {
  return {AclEntry{.scheme = "sasl", .id = user + "@" + KerberosRealm::name}};
}

error_code result_of_read(Client& client, const std::string& path = "/") {
  return error_of([&] { static_cast<void>(client.get(path)); });
}

struct Play {
  KerberosRealm realm;
  TestingServer server{with_keytab(realm)};
  FaultProxy proxy{server.endpoint()};
  LogLines log;

  ClientOptions options(const std::string& cache) {
    ClientOptions made = with_cache(cache, at_localhost(proxy.endpoint()));
    made.session_timeout = 30s;
    made.log = log.sink();
    return made;
  }
};

TEST_CASE("a principal with a ticket is known to the server") {
  CUSTODIAN_REQUIRES_A_KDC();
  Play play;
  const std::string anna = play.realm.cache("anna");
  play.realm.kinit("anna", anna);
  Client client{play.options(anna)};
  client.create("/hers", "x", {.acl = creator_all_acl()});
  CHECK(client.get_acl("/hers") == only_for("anna"));

  const std::string bert = play.realm.cache("bert");
  play.realm.kinit("bert", bert);
  Client other{play.options(bert)};
  CHECK(result_of_read(other, "/hers") == ServerErrc::no_auth);
  other.create("/his", "", {.acl = creator_all_acl()});
  CHECK(other.get_acl("/his") == only_for("bert"));
}

TEST_CASE("a principal may be chosen, and so may the environment's cache") {
  CUSTODIAN_REQUIRES_A_KDC();
  Play play;
  play.realm.kinit("anna", play.realm.cache("none"));  // the cache that KRB5CCNAME names
  ClientOptions options = play.options("");
  Client client{options};
  CHECK_FALSE(result_of_read(client));
  options.sasl->principal = "anna@CUSTODIAN.TEST";
  Client chosen{options};
  CHECK_FALSE(result_of_read(chosen));
  options.sasl->principal = "bert@CUSTODIAN.TEST";
  options.operation_timeout = 2s;
  Client other{options};
  CHECK(result_of_read(other) == Errc::deadline_exceeded);
}

TEST_CASE("each connection of a session is authenticated by a ticket") {
  CUSTODIAN_REQUIRES_A_KDC();
  Play play;
  const std::string anna = play.realm.cache("anna");
  play.realm.kinit("anna", anna);
  Client client{play.options(anna)};
  client.create("/hers", "x", {.acl = only_for("anna")});
  const std::int64_t session = client.session().id;
  for (int i = 0; i < 20; ++i) {
    play.proxy.cut(i % 2 == 0 ? testing::Ending::orderly : testing::Ending::reset);
    CHECK(client.get("/hers").data == "x");
  }
  CHECK(client.session().id == session);
}

TEST_CASE("a ticket that has ended costs no session if it is renewed in time") {
  CUSTODIAN_REQUIRES_A_KDC();
  Play play;
  const std::string cache = play.realm.cache("brief");
  play.realm.kinit("brief", cache);
  Client client{play.options(cache)};
  client.create("/hers", "x", {.acl = only_for("brief")});
  const std::int64_t session = client.session().id;
  REQUIRE(eventually([&] { return KerberosRealm::has_ended(cache); }));
  // A connection that is authenticated outlives its ticket.
  CHECK(client.get("/hers").data == "x");
  // Servers and the KDC accept a ticket for some time after its end, since clocks may differ
  // (`clockskew` in krb5.conf).
  const bool is_noticed = eventually([&] {
    play.proxy.cut();
    std::this_thread::sleep_for(200ms);
    return play.log.contains("expired");
  });
  INFO(play.log.all());
  REQUIRE(is_noticed);
  CHECK(play.log.contains("SASL (GSSAPI): zookeeper@localhost: "));
  play.realm.kinit("brief", cache);
  CHECK(client.get("/hers").data == "x");
  CHECK(client.session().id == session);
}

TEST_CASE("a ticket that a keytab has got is used for each connection") {
  CUSTODIAN_REQUIRES_A_KDC();
  Play play;
  Client client{with_key(at_localhost(play.proxy.endpoint()), play.realm.keytab_of("anna"))};
  for (int i = 0; i < 5; ++i) {
    CHECK_FALSE(result_of_read(client));
    play.proxy.cut();
  }
  CHECK_FALSE(result_of_read(client));
  CHECK(play.realm.logins_of("anna") == 1);
}

TEST_CASE("a keytab renews tickets without help") {
  CUSTODIAN_REQUIRES_A_KDC();
  Play play;
  // The tickets of the environment are those of another principal.
  play.realm.kinit("anna", play.realm.cache("none"));
  ClientOptions options =
      with_key(at_localhost(play.proxy.endpoint()), play.realm.keytab_of("brief"));
  options.session_timeout = 30s;
  options.log = play.log.sink();
  Client client{options};
  client.create("/hers", "x", {.acl = only_for("brief")});
  const std::int64_t session = client.session().id;
  const int logins = play.realm.logins_of("brief");
  CHECK(logins > 0);
  const Deadline end{KerberosRealm::longest_use};
  while (!end.passed()) {
    play.proxy.cut();
    CHECK(client.get("/hers").data == "x");
    std::this_thread::sleep_for(100ms);
  }
  CHECK(play.realm.logins_of("brief") > logins);
  CHECK(client.session().id == session);
  INFO(play.log.all());
  CHECK_FALSE(play.log.contains("SASL"));
}

TEST_CASE("without a ticket the log says what is missing") {
  CUSTODIAN_REQUIRES_A_KDC();
  Play play;
  const std::string anna = play.realm.cache("anna");
  ClientOptions options = play.options(anna);
  Client client{options};
  REQUIRE(eventually([&] { return play.log.contains("kinit"); }));
  INFO(play.log.all());
  CHECK(play.log.contains("could not connect to " + to_string(play.proxy.endpoint()) +
                          ": SASL (GSSAPI): zookeeper@localhost: no ticket of this client"));
  // The client begins no session that cannot be authenticated.
  CHECK(play.server.statistic("zk_global_sessions") == 0);
  play.realm.kinit("anna", anna);
  CHECK_FALSE(result_of_read(client));
}

TEST_CASE("a server of another name is not believed") {
  CUSTODIAN_REQUIRES_A_KDC();
  Play play;
  const std::string anna = play.realm.cache("anna");
  play.realm.kinit("anna", anna);
  ClientOptions options = play.options(anna);
  SECTION("that the KDC does not know") {
    options.sasl->server_name = "nowhere";
    Client client{options};
    REQUIRE(eventually([&] { return play.log.contains("not found in Kerberos database"); }));
    CHECK(play.log.contains("SASL (GSSAPI): zookeeper@nowhere: no ticket for the server"));
  }
  SECTION("whose key this server does not have") {
    options.sasl->server_name = "stranger";
    Client client{options};
    CHECK(result_of_read(client) == ServerErrc::auth_failed);
    CHECK(eventually(
        [&] { return play.log.contains("SASL (GSSAPI): the server refuses this identity"); }));
  }
}

TEST_CASE("a KDC that is away is asked again") {
  CUSTODIAN_REQUIRES_A_KDC();
  Play play;
  const std::string anna = play.realm.cache("anna");
  play.realm.kinit("anna", anna);
  play.realm.stop();
  Client client{play.options(anna)};
  REQUIRE(eventually([&] { return play.log.contains("Cannot contact any KDC"); }));
  play.realm.start();
  CHECK_FALSE(result_of_read(client));
}

TEST_CASE("a KDC that is silent keeps nobody waiting but its own clients") {
  CUSTODIAN_REQUIRES_A_KDC();
  Play play;
  const std::string anna = play.realm.cache("anna");
  play.realm.kinit("anna", anna);
  play.realm.pause();
  ClientOptions options = play.options(anna);
  options.connect_timeout = 200ms;
  {
    Client client{options};
    REQUIRE(eventually(
        [&] { return play.log.contains("SASL (GSSAPI): a ticket for zookeeper@localhost"); }));
    const Deadline soon{5s};
    client.close();
    CHECK_FALSE(soon.passed());
  }
  play.realm.resume();
  options.connect_timeout = ClientOptions{}.connect_timeout;
  Client client{options};
  CHECK_FALSE(result_of_read(client));
}

TEST_CASE("Kerberos works over TLS") {
  CUSTODIAN_REQUIRES_A_KDC();
  const KerberosRealm realm;
  testing::TestingServerOptions server_options = with_keytab(realm);
  server_options.tls = the_authority().server_tls();
  TestingServer server{server_options};
  FaultProxy proxy{server.secure_endpoint()};
  const std::string anna = realm.cache("anna");
  realm.kinit("anna", anna);
  const Directory files;
  ClientOptions options = secure_options(proxy.endpoint(), files);
  options.servers = at_localhost(proxy.endpoint());
  options.sasl.emplace();
  options.sasl->credential_cache = anna;
  Client client{options};
  client.create("/hers", "x", {.acl = only_for("anna")});
  proxy.cut();
  CHECK(client.get("/hers").data == "x");
}

TEST_CASE("a server that knows only passwords does not know tickets") {
  CUSTODIAN_REQUIRES_A_KDC();
  const KerberosRealm realm;
  testing::TestingServerOptions with_users;
  with_users.jaas =
      "Server {\n  org.apache.zookeeper.server.auth.DigestLoginModule required\n"
      "  user_anna=\"secret\";\n};\n";
  TestingServer server{with_users};
  const std::string anna = realm.cache("anna");
  realm.kinit("anna", anna);
  LogLines log;
  ClientOptions options = with_cache(anna, at_localhost(server.endpoint()));
  options.operation_timeout = 2s;
  options.log = log.sink();
  Client client{options};
  CHECK(result_of_read(client) == Errc::deadline_exceeded);
  INFO(log.all());
  CHECK(log.contains("SASL (GSSAPI): the server's proof: "));
}

}  // namespace
}  // namespace custodian::tests::kerberos_test
