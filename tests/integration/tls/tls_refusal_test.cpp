// Which servers a client with TLS refuses, and what its log says then.

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>

#include "custodian/session/session.hpp"
#include "support/results.hpp"
#include "tls_fixture.hpp"

namespace custodian::tests::tls_refusal_test {
namespace {

using namespace std::chrono_literals;
using testing::CertificateAuthority;
using testing::ClientCertificates;
using testing::TestingServer;

/// Checks that the client does not connect, and logs the reason.
void check_refused(ClientOptions options, const std::string& reason) {
  LogLines log;
  options.log = log.sink();
  Client client{options};
  CHECK(eventually([&] { return log.contains("warning: "); }));
  CHECK(eventually([&] { return log.contains(reason); }));
  INFO(reason + " is not in:\n" + log.all());
  CHECK(log.contains(reason));
  CHECK(client.connection_state() == ConnectionState::connecting);
  CHECK(client.session().id == 0);
  client.close();
}

TEST_CASE("a server is refused whose certificate another authority has signed") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const CertificateAuthority other{"Another authority"};
  TestingServer server{server_with(other.server_tls())};
  const Directory files;
  check_refused(secure_options(server.secure_endpoint(), files),
                "could not connect to " + to_string(server.secure_endpoint()) +
                    ": TLS handshake: certificate verify failed: ");
}

TEST_CASE("a server is refused whose certificate is for others") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{server_with(the_authority().server_tls(
      ClientCertificates::ignored, {.names = {"zk.example"}, .addresses = {"127.0.0.9"}}))};
  const Directory files;
  ClientOptions options = secure_options(server.secure_endpoint(), files);
  const std::string is_for =
      "TLS handshake: certificate verify failed: the certificate is for zk.example, 127.0.0.9, "
      "not for ";
  check_refused(options, is_for + "127.0.0.1");
  options.servers = "localhost:" + std::to_string(server.secure_endpoint().port);
  check_refused(options, is_for + "localhost");
  options.tls->server_name = "other.example";
  check_refused(options, is_for + "other.example");
  // A client that names one of the certificate's names connects.
  for (const std::string name : {"zk.example", "zk.example.", "127.0.0.9"}) {
    options.tls->server_name = name;
    Client{options}.wait_connected();
  }
  options.tls->server_name.clear();
  options.tls->verify_hostname = false;
  LogLines log;
  options.log = log.sink();
  Client{options}.wait_connected();
  CHECK(eventually([&] { return log.contains("warning: tls.verify_hostname is off"); }));
}

TEST_CASE("a server is refused whose certificate has ended, or was revoked") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const Directory files;
  {
    TestingServer server{
        server_with(the_authority().server_tls(ClientCertificates::ignored, {.ends_in = -1h}))};
    check_refused(secure_options(server.secure_endpoint(), files), "certificate has expired");
  }
  const testing::ServerTls revoked = the_authority().server_tls();
  TestingServer server{server_with(revoked)};
  ClientOptions options = secure_options(server.secure_endpoint(), files);
  options.tls->crl_file = files.with("good.crl", the_authority().revocation_list({}));
  Client{options}.wait_connected();
  options.tls->crl_file =
      files.with("revoked.crl", the_authority().revocation_list({revoked.identity}));
  check_refused(options, "certificate revoked");
}

TEST_CASE("a server is refused that the callback of a hook does not want") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{server_with(the_authority().server_tls())};
  const Directory files;
  ClientOptions options = secure_options(server.secure_endpoint(), files);
  options.tls->configure = [](ssl_ctx_st* context) {
    ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, [](int, X509_STORE_CTX*) { return 0; });
  };
  check_refused(options, "certificate verify failed: application verification failure");
}

TEST_CASE("a server is reached by its address of version 6, which its certificate is for") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  boost::asio::io_context context;
  boost::system::error_code no_ipv6;
  boost::asio::ip::tcp::acceptor probe{context};
  probe.open(boost::asio::ip::tcp::v6(), no_ipv6);
  if (!no_ipv6) probe.bind({boost::asio::ip::address_v6::loopback(), 0}, no_ipv6);
  if (no_ipv6) CUSTODIAN_SKIP("this machine has no loopback of IPv6");
  probe.close();
  const Directory files;
  const auto check = [&](const testing::ServerTls& tls, const std::string& reason) {
    TestingServer server{server_with(tls, {"secureClientPortAddress=::1"})};
    ClientOptions options = secure_options(server.secure_endpoint(), files);
    options.servers = "[::1]:" + std::to_string(server.secure_endpoint().port);
    if (!reason.empty()) return check_refused(options, reason);
    Client{options}.wait_connected();
  };
  check(the_authority().server_tls(ClientCertificates::ignored, {.addresses = {"::1"}}), "");
  check(the_authority().server_tls(ClientCertificates::ignored, {.addresses = {"127.0.0.1"}}),
        "the certificate is for localhost, 127.0.0.1, not for ::1");
}

TEST_CASE("a server whose authority another one has signed is trusted with what it sends") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const Directory files;
  const CertificateAuthority between = the_authority().subordinate("In between");
  testing::ServerTls tls = between.server_tls();
  {
    TestingServer server{server_with(tls)};
    check_refused(secure_options(server.secure_endpoint(), files),
                  "unable to get local issuer certificate");
  }
  tls.identity.certificate += between.certificate();
  TestingServer server{server_with(tls)};
  Client{secure_options(server.secure_endpoint(), files)}.wait_connected();
}

TEST_CASE(
    "a server that needs certificates refuses a client without one, in both versions of TLS") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const Directory files;
  TestingServer older{server_with(the_authority().server_tls(ClientCertificates::needed))};
  // The server's alert may be lost with the connection.
  check_refused(secure_options(older.secure_endpoint(), files), "certificate");
  TestingServer newer{
      server_with(the_authority().server_tls(ClientCertificates::needed), only_tls_1_3())};
  check_refused(secure_options(newer.secure_endpoint(), files), "certificate");
}

TEST_CASE("TLS 1.2 is refused where 1.3 is the least") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const Directory files;
  TestingServer server{server_with(the_authority().server_tls(),
                                   {"ssl.protocol=TLSv1.2", "ssl.enabledProtocols=TLSv1.2"})};
  ClientOptions options = secure_options(server.secure_endpoint(), files);
  options.tls->minimum_version = TlsVersion::tls_1_3;
  check_refused(options, "TLS handshake: ");
}

TEST_CASE(
    "a port without TLS is not talked to in plain text, and a plain client says so at one with") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const Directory files;
  TestingServer server{server_with(the_authority().server_tls())};
  check_refused(secure_options(server.endpoint(), files), "does this port speak TLS?");
  check_refused(options_for(to_string(server.secure_endpoint())),
                "ended the connection before any answer");
}

TEST_CASE("a peer that accepts and says nothing is given up after the connect timeout") {
  const Directory files;
  boost::asio::io_context context;
  boost::asio::ip::tcp::acceptor silent{context, {boost::asio::ip::address_v4::loopback(), 0}};
  ClientOptions options = secure_options({"127.0.0.1", silent.local_endpoint().port()}, files);
  options.connect_timeout = 200ms;
  check_refused(options, ": TLS handshake: Connection timed out");
}

/// A private key that is of another kind than those of the authority.
std::string foreign_key() {
  const std::unique_ptr<EVP_PKEY_CTX, decltype(&::EVP_PKEY_CTX_free)> maker{
      ::EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nullptr), &::EVP_PKEY_CTX_free};
  const std::unique_ptr<BIO, decltype(&::BIO_free)> text{::BIO_new(::BIO_s_mem()), &::BIO_free};
  EVP_PKEY* made = nullptr;
  REQUIRE(::EVP_PKEY_keygen_init(maker.get()) == 1);
  REQUIRE(::EVP_PKEY_keygen(maker.get(), &made) == 1);
  const std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key{made, &::EVP_PKEY_free};
  REQUIRE(::PEM_write_bio_PrivateKey(text.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                     nullptr) == 1);
  const char* bytes = nullptr;
  const long size = BIO_get_mem_data(text.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

TEST_CASE("options that are wrong are refused when the client is made, with the file's name") {
  const Directory files;
  const testing::IssuedCertificate identity = the_authority().issue();
  const auto message = [&](const std::function<void(TlsOptions&)>& change) {
    ClientOptions options = options_for("127.0.0.1:1");
    options.tls.emplace();
    options.tls->ca_file = files.with("ca.pem", the_authority().certificate());
    options.tls->certificate_chain_file = files.with("client.pem", identity.certificate);
    options.tls->private_key_file = files.with("client.key", identity.key);
    change(*options.tls);
    return message_of([&] { Client{options}; });
  };
  const auto has = [](const std::string& text, std::initializer_list<const char*> parts) {
    INFO(text);
    for (const char* part : parts) CHECK(text.find(part) != std::string::npos);
  };
  CHECK(message([](TlsOptions&) {}).empty());
  has(message([](TlsOptions& tls) { tls.ca_file = "/nowhere/ca.pem"; }),
      {"tls.ca_file \"/nowhere/ca.pem\"", "No such file"});
  has(message([&](TlsOptions& tls) { tls.ca_file = files.with("bad.pem", "no certificate\n"); }),
      {"tls.ca_file", "bad.pem"});
  has(message([](TlsOptions& tls) { tls.ca_directory = "/nowhere"; }),
      {"tls.ca_directory \"/nowhere\"", "No such file"});
  has(message([](TlsOptions& tls) { tls.certificate_chain_file = "/nowhere/c.pem"; }),
      {"tls.certificate_chain_file \"/nowhere/c.pem\"", "No such file"});
  has(message([](TlsOptions& tls) { tls.certificate_chain_file.clear(); }),
      {"tls.private_key_file", "certificate_chain_file"});
  has(message([&](TlsOptions& tls) {
        tls.private_key_file = files.with("other.key", the_authority().issue().key);
      }),
      {"tls.private_key_file", "other.key"});
  has(message([&](TlsOptions& tls) {
        tls.private_key_file = files.with("foreign.key", foreign_key());
      }),
      {"tls.private_key_file", "foreign.key", "the key is not the certificate's"});
  has(message([&](TlsOptions& tls) { tls.crl_file = "/nowhere/list.pem"; }),
      {"tls.crl_file \"/nowhere/list.pem\"", "No such file"});
  has(message([&](TlsOptions& tls) {
        const auto encrypted = the_authority().issue({.key_password = "secret"});
        tls.certificate_chain_file = files.with("encrypted.pem", encrypted.certificate);
        tls.private_key_file = files.with("encrypted.key", encrypted.key);
        tls.private_key_password = [] { return std::string{"wrong"}; };
      }),
      {"tls.private_key_file", "encrypted.key", "password"});
  has(message([](TlsOptions& tls) {
        tls.configure = [](ssl_ctx_st*) { throw Error{Errc::invalid_argument, "my hook", ""}; };
      }),
      {"my hook"});
}

TEST_CASE("a client without TLS cannot be given secure servers") {
  Client client{options_for("127.0.0.1:1")};
  CHECK(error_of([&] { client.set_servers("secure://127.0.0.1:1"); }) == Errc::invalid_argument);

  // A custom session factory may ignore the TLS options.
  boost::asio::io_context context;
  SessionSettings settings;
  settings.servers = "secure://127.0.0.1:1";
  CHECK(message_of([&] {
          static_cast<void>(make_zookeeper_session(context.get_executor(), settings, {}));
        }).find("secure:// needs SessionSettings::tls") != std::string::npos);
  settings.servers = "127.0.0.1:1";
  CHECK(make_zookeeper_session(context.get_executor(), settings, {}) != nullptr);
}

}  // namespace
}  // namespace custodian::tests::tls_refusal_test
