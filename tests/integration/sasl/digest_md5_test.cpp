// Servers that authenticate clients by DIGEST-MD5.

#include <atomic>
#include <future>
#include <stdexcept>
#include <string>

#include "custodian/testing/fault_proxy.hpp"
#include "integration/client/hostile_server.hpp"
#include "integration/tls/tls_fixture.hpp"
#include "support/jute.hpp"

namespace custodian::tests::digest_md5_test {
namespace {

using namespace std::chrono_literals;
using testing::FaultProxy;
using testing::TestingServer;

testing::TestingServerOptions with_user(const std::string& name, const std::string& password) {
  testing::TestingServerOptions options;
  options.jaas =
      "Server {\n  org.apache.zookeeper.server.auth.DigestLoginModule required\n  user_" + name +
      "=\"" + password + "\";\n};\n";
  return options;
}

testing::TestingServerOptions with_users(std::vector<std::string> config_lines = {}) {
  testing::TestingServerOptions options;
  options.jaas = R"(Server {
  org.apache.zookeeper.server.auth.DigestLoginModule required
  user_anna="secret of \"anna\""
  user_bert="another";
};
)";
  options.config_lines = std::move(config_lines);
  return options;
}

SaslOptions user(const std::string& name, const std::string& password) {
  SaslOptions options;
  options.mechanism = SaslMechanism::digest_md5;
  options.user = name;
  options.password = [password] { return password; };
  return options;
}

SaslOptions anna() { return user("anna", "secret of \"anna\""); }
SaslOptions bert() { return user("bert", "another"); }

ClientOptions options_as(const SaslOptions& sasl, const std::string& servers) {
  ClientOptions options = plain_options_for(servers);
  options.sasl = sasl;
  return options;
}

error_code result_of_read(Client& client, const std::string& path = "/") {
  return error_of([&] { static_cast<void>(client.get(path)); });
}

Acl only_for(const std::string& user) { return {AclEntry{.scheme = "sasl", .id = user}}; }

TEST_CASE("a user whose password is right is known to the server") {
  TestingServer server{with_users()};
  Client client{options_as(anna(), server.connect_string())};
  client.create("/hers", "x", {.acl = only_for("anna")});
  CHECK(client.get("/hers").data == "x");

  Client other{options_as(bert(), server.connect_string())};
  CHECK(result_of_read(other, "/hers") == ServerErrc::no_auth);
  CHECK(client.get_acl("/hers") == only_for("anna"));
  Client nobody{plain_options_for(server.connect_string())};
  CHECK(result_of_read(nobody, "/hers") == ServerErrc::no_auth);
}

TEST_CASE("a node for its creator is the user's") {
  TestingServer server{with_users()};
  Client client{options_as(anna(), server.connect_string())};
  client.create("/hers", "", {.acl = creator_all_acl()});
  CHECK(client.get_acl("/hers") == only_for("anna"));
}

TEST_CASE("a wrong password ends operations, and the log says why") {
  TestingServer server{with_users()};
  LogLines log;
  ClientOptions options = options_as(user("anna", "wrong"), server.connect_string());
  options.log = log.sink();
  Client client{options};
  // The second read is sent in the next session, which begins some seconds later.
  for (int i = 0; i < 2; ++i) {
    const Deadline soon{15s};
    CHECK(result_of_read(client) == ServerErrc::auth_failed);
    CHECK_FALSE(soon.passed());
  }
  INFO(log.all());
  CHECK(log.contains("the connection to " + server.connect_string() +
                     " has ended: SASL (DIGEST-MD5): the server refuses this identity"));
  CHECK(log.contains("the servers refused the identity that SASL proves"));
  // The client offers the password no more often than that.
  CHECK(log.count("refuses this identity") <= 2);
}

TEST_CASE("a server that goes on in spite of a wrong password is not trusted") {
  testing::TestingServerOptions lax = with_users();
  lax.java_options = {"-Dzookeeper.allowSaslFailedClients=true"};
  TestingServer server{lax};
  Client client{options_as(user("anna", "wrong"), server.connect_string())};
  CHECK(result_of_read(client) == ServerErrc::auth_failed);
}

TEST_CASE("a server that does not know SASL is tried again, and the log says why") {
  TestingServer server;
  LogLines log;
  ClientOptions options = options_as(anna(), server.connect_string());
  options.log = log.sink();
  options.operation_timeout = 2s;
  Client client{options};
  CHECK(result_of_read(client) == Errc::deadline_exceeded);
  INFO(log.all());
  CHECK(log.contains("SASL (DIGEST-MD5): the server does not speak it"));
  // Each attempt leaves a session on the server, so there must be few attempts.
  CHECK(server.statistic("zk_global_sessions") == 1);
}

TEST_CASE("a server that refuses a new session does not keep it from the others") {
  const TestingServer stale{with_user("anna", "changed since")};
  TestingServer server{with_users()};
  FaultProxy proxy{server.endpoint()};
  proxy.refuse();
  LogLines log;
  ClientOptions options = options_as(anna(), stale.connect_string() + "," + proxy.connect_string());
  options.session_timeout = 60s;
  options.log = log.sink();
  Client client{options};
  REQUIRE(eventually([&] { return log.contains("the server refuses this identity"); }));
  proxy.accept();
  CHECK_FALSE(result_of_read(client));
  INFO(log.all());
  CHECK_FALSE(log.contains("trying again in 5 s"));
}

/// A server that gives `session` to every client, whether the client begins or continues a session,
/// and `answer` to each token.
HostileServer::Words words(std::int64_t session, std::function<std::string(std::int32_t)> answer) {
  return {.greeting = [session] { return Greeting{.session = session}.frame(); },
          .answer = [answer = std::move(answer)](
                        const SeenRequest& request) { return answer(request.xid); }};
}

TEST_CASE("a session that the servers continue, but do not authenticate, is given up in the end") {
  TestingServer server{with_users()};
  FaultProxy proxy{server.endpoint()};
  LogLines log;
  ClientOptions options = options_as(anna(), proxy.connect_string());
  options.session_timeout = 5s;
  options.log = log.sink();
  Client client{options};
  REQUIRE_FALSE(result_of_read(client));
  const std::int64_t session = client.session().id;
  const HostileServer speechless{
      words(session, [](std::int32_t xid) { return Jute{}.header(xid).number(-1).frame(); })};
  proxy.set_target(speechless.endpoint());
  proxy.cut();
  REQUIRE(eventually([&] { return log.contains("SASL never gets to its end"); }));
  proxy.set_target(server.endpoint());
  CHECK_FALSE(result_of_read(client));
  CHECK(client.session().id != session);
}

TEST_CASE("new credentials are not blamed for an identity that a server refuses") {
  TestingServer server{with_users()};
  FaultProxy proxy{server.endpoint()};
  LogLines log;
  ClientOptions options = options_as(anna(), proxy.connect_string());
  options.log = log.sink();
  Client client{options};
  REQUIRE_FALSE(result_of_read(client));
  const HostileServer refusing{
      words(1, [](std::int32_t xid) { return Jute{}.header(xid, -115).number(-1).frame(); })};
  // The client's present connection stays; only a new one goes to the refusing server.
  proxy.set_target(refusing.endpoint());
  client.set_credentials({{"digest", "app:1"}});
  REQUIRE(eventually([&] { return refusing.connections_ended() == 1; }));
  proxy.set_target(server.endpoint());
  CHECK(eventually([&] { return log.contains("the new credentials are presented"); }));
  INFO(log.all());
  CHECK_FALSE(log.contains("refuse the new credentials"));
}

TEST_CASE("where authentication is required a user is served, and no one else is") {
  testing::TestingServerOptions strict = with_users();
  strict.java_options = {"-Dzookeeper.sessionRequireClientSASLAuth=true"};
  TestingServer server{strict};
  Client client{options_as(anna(), server.connect_string())};
  CHECK_FALSE(result_of_read(client));
  Client nobody{plain_options_for(server.connect_string())};
  CHECK(result_of_read(nobody) == ServerErrc::session_closed_require_sasl_auth);
  Client wrong{options_as(user("anna", "wrong"), server.connect_string())};
  CHECK(result_of_read(wrong) == ServerErrc::auth_failed);
}

TEST_CASE("each connection of a session is authenticated") {
  TestingServer server{with_users()};
  FaultProxy proxy{server.endpoint()};
  Client client{options_as(anna(), proxy.connect_string())};
  client.create("/hers", "x", {.acl = only_for("anna")});
  const std::int64_t session = client.session().id;
  for (int i = 0; i < 20; ++i) {
    proxy.cut(i % 2 == 0 ? testing::Ending::orderly : testing::Ending::reset);
    CHECK(client.get("/hers").data == "x");
  }
  CHECK(client.session().id == session);
  CHECK(client.session().connection > 1);
}

TEST_CASE("watches are restored once a connection is authenticated") {
  TestingServer server{with_users()};
  FaultProxy proxy{server.endpoint()};
  Client client{options_as(anna(), proxy.connect_string())};
  client.create("/hers", "x", {.acl = only_for("anna")});
  auto [read, watch] = client.get_and_watch("/hers");
  proxy.cut();
  Client other{options_as(anna(), server.connect_string())};
  other.set("/hers", "y");
  const Deadline soon{patience};
  CHECK(watch.wait() == WatchEventType::data_changed);
  CHECK_FALSE(soon.passed());
}

TEST_CASE("a session that has expired is followed by another one") {
  TestingServer server{with_users()};
  FaultProxy proxy{server.endpoint()};
  Client client{options_as(anna(), proxy.connect_string())};
  REQUIRE_FALSE(result_of_read(client));
  const std::int64_t session = client.session().id;
  proxy.refuse();
  proxy.cut();
  server.expire(client);
  proxy.accept();
  REQUIRE(eventually([&] { return client.session().id != session && !result_of_read(client); }));
}

TEST_CASE("a connection that is cut within the exchange is made again") {
  TestingServer server{with_users()};
  FaultProxy proxy{server.endpoint()};
  for (const std::uint64_t bytes : {1U, 20U, 41U, 42U, 60U, 100U, 140U, 180U}) {
    proxy.cut_after_bytes(testing::Direction::to_client, bytes);
    Client client{options_as(anna(), proxy.connect_string())};
    CHECK_FALSE(result_of_read(client));
    proxy.heal();
  }
}

TEST_CASE("a server that is silent within the exchange is given up in time") {
  TestingServer server{with_users()};
  FaultProxy proxy{server.endpoint()};
  LogLines log;
  ClientOptions options = options_as(anna(), proxy.connect_string());
  options.log = log.sink();
  options.connect_timeout = 1s;
  const HostileServer silent{words(1, [](std::int32_t) { return std::string{}; })};
  proxy.set_target(silent.endpoint());
  Client client{options};
  REQUIRE(eventually([&] { return log.contains("SASL (DIGEST-MD5): no answer in time"); }));
  proxy.set_target(server.endpoint());
  CHECK_FALSE(result_of_read(client));
}

TEST_CASE("DIGEST-MD5 works over TLS") {
  testing::TestingServerOptions options = with_users();
  options.tls = the_authority().server_tls();
  TestingServer server{options};
  const Directory files;
  FaultProxy proxy{server.secure_endpoint()};
  ClientOptions secure = secure_options(proxy.endpoint(), files);
  secure.sasl = anna();
  Client client{secure};
  client.create("/hers", "x", {.acl = only_for("anna")});
  proxy.cut();
  CHECK(client.get("/hers").data == "x");
  secure.sasl = user("anna", "wrong");
  Client wrong{secure};
  CHECK(result_of_read(wrong) == ServerErrc::auth_failed);
}

TEST_CASE("a password that cannot be had is asked for again") {
  TestingServer server{with_users()};
  LogLines log;
  const auto calls = std::make_shared<std::atomic<int>>(0);
  ClientOptions options = options_as(anna(), server.connect_string());
  options.log = log.sink();
  options.sasl->password = [calls, right = options.sasl->password] {
    if (++*calls < 3) throw std::runtime_error{"the vault is closed"};
    return right();
  };
  Client client{options};
  CHECK_FALSE(result_of_read(client));
  CHECK(log.contains("could not connect to " + server.connect_string() +
                     ": SASL (DIGEST-MD5): the vault is closed"));
}

TEST_CASE("what SASL lacks is news, though the server was away before") {
  TestingServer server{with_users()};
  FaultProxy proxy{server.endpoint()};
  LogLines log;
  const auto closed = std::make_shared<std::atomic<bool>>(false);
  ClientOptions options = options_as(anna(), proxy.connect_string());
  options.session_timeout = 60s;
  options.log = log.sink();
  options.sasl->password = [closed, right = options.sasl->password] {
    if (*closed) throw std::runtime_error{"the vault is closed"};
    return right();
  };
  Client client{options};
  CHECK_FALSE(result_of_read(client));
  proxy.refuse();
  proxy.cut();
  REQUIRE(eventually([&] { return log.contains("warning: could not connect"); }));
  *closed = true;
  proxy.accept();
  CHECK(eventually([&] {
    return log.contains("warning: could not connect to " + proxy.connect_string() +
                        ": SASL (DIGEST-MD5): the vault is closed");
  }));
  *closed = false;
  CHECK_FALSE(result_of_read(client));
}

TEST_CASE("a password that is long in coming delays nobody, nor the end of a client") {
  TestingServer server{with_users()};
  const auto released = std::make_shared<std::promise<void>>();
  const std::shared_future<void> release = released->get_future().share();
  ClientOptions options = options_as(anna(), server.connect_string());
  options.connect_timeout = 100ms;
  options.sasl->password = [release] {
    release.wait_for(patience);
    return std::string{};
  };
  LogLines log;
  options.log = log.sink();
  {
    Client client{options};
    REQUIRE(eventually([&] {
      return log.contains("SASL (DIGEST-MD5): SaslOptions::password") &&
             log.contains("earlier calls have no answer yet");
    }));
    const Deadline soon{5s};
    client.close();
    CHECK_FALSE(soon.passed());
  }
  released->set_value();
}

TEST_CASE("options that cannot be are refused") {
  const auto refusal = [](const std::function<void(SaslOptions&)>& spoil) {
    ClientOptions options = options_as(anna(), "localhost:1");
    spoil(*options.sasl);
    return message_of([&] { const Client client{options}; });
  };
  const auto has = [](const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != std::string::npos;
  };
  CHECK(has(refusal([](SaslOptions& sasl) { sasl.user.clear(); }), "sasl.user"));
  CHECK(has(refusal([](SaslOptions& sasl) { sasl.user = "\xc3\xa4"; }), "sasl.user"));
  CHECK(has(refusal([](SaslOptions& sasl) { sasl.password = nullptr; }), "sasl.password"));
  CHECK(has(refusal([](SaslOptions& sasl) { sasl.service = "a/b"; }), "sasl.service"));
  const std::string of_tickets = "credential_cache, client_keytab and principal are for GSSAPI";
  CHECK(has(refusal([](SaslOptions& sasl) { sasl.client_keytab = "key"; }), of_tickets));
  CHECK(has(refusal([](SaslOptions& sasl) { sasl.credential_cache = "FILE:a"; }), of_tickets));
  CHECK(has(refusal([](SaslOptions& sasl) { sasl.principal = "anna"; }), of_tickets));
  CHECK(has(refusal([](SaslOptions& sasl) { sasl.mechanism = SaslMechanism::gssapi; }),
            "sasl.user and password"));
}

}  // namespace
}  // namespace custodian::tests::digest_md5_test
