// The custodian command over TLS.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "custodian/locks/inter_process_mutex.hpp"
#include "integration/tls/tls_fixture.hpp"
#include "programs/program.hpp"

namespace custodian::tests::cli_tls_test {
namespace {

using testing::ClientCertificates;
using testing::TestingServer;

TEST_CASE(
    "the command takes a lock over TLS, with a certificate of its own, and asks servers there") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{server_with(the_authority().server_tls(ClientCertificates::needed))};
  const Directory files;
  const auto identity = the_authority().issue({.key_password = "secret"});
  const std::vector<std::string> trust{"--servers",
                                       "secure://" + to_string(server.secure_endpoint()),
                                       "--tls-ca",
                                       files.with("ca.pem", the_authority().certificate()),
                                       "--tls-cert",
                                       files.with("client.pem", identity.certificate),
                                       "--tls-key",
                                       files.with("client.key", identity.key),
                                       "--tls-key-password-file",
                                       files.with("password", "secret\n")};
  const auto run_with = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all = trust;
    all.insert(all.end(), words.begin(), words.end());
    return run(CUSTODIAN_CLI, all);
  };
  const Result locked = run_with({"lock", "/lock", "--", "echo", "under the lock"});
  INFO(locked.output);
  CHECK(locked.status == 0);
  CHECK(contains(locked.output, "under the lock"));

  const Result doctor = run_with({"doctor"});
  INFO(doctor.output);
  CHECK(contains(doctor.output, "connections are by TLS, and servers are verified"));
  CHECK(contains(doctor.output, "the certificate ends in 0 days"));
  CHECK(contains(doctor.output, "standalone, version 3"));

  // The command finds the addresses of sessions by a four-letter word.
  Client client{[&] {
    ClientOptions options = secure_options(server.secure_endpoint(), files);
    options.tls->certificate_chain_file = files.with("client.pem", identity.certificate);
    options.tls->private_key_file = files.with("client.key", identity.key);
    options.tls->private_key_password = [] { return std::string{"secret"}; };
    return options;
  }()};
  InterProcessMutex mutex{client, "/lock"};
  const Lease held = mutex.acquire();
  const Result inspected = run_with({"inspect", "/lock"});
  INFO(inspected.output);
  CHECK(inspected.status == 0);
  CHECK(contains(inspected.output, "127.0.0.1:"));
}

TEST_CASE("the command refuses a server that it cannot verify, and says why") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{server_with(the_authority().server_tls())};
  const Directory files;
  // On a busy machine a server's first handshake can take longer than the command waits below.
  Client{secure_options(server.secure_endpoint(), files)}.wait_connected();
  const testing::CertificateAuthority other{"Another authority"};
  const std::string ca = files.with("other.pem", other.certificate());
  const std::string secure = to_string(server.secure_endpoint());
  const Result locked = run(CUSTODIAN_CLI, {"--servers", secure, "--tls-ca", ca, "lock", "--wait",
                                            "8s", "/lock", "--", "echo", "under the lock"});
  INFO(locked.output);
  CHECK(locked.status == 69);
  CHECK_FALSE(contains(locked.output, "under the lock"));
  CHECK(contains(locked.output, "certificate verify failed"));

  const Result doctor = run(
      CUSTODIAN_CLI, {"--servers", secure, "--tls", "--tls-server-name", "zk.example", "--tls-ca",
                      files.with("ca.pem", the_authority().certificate()), "doctor"});
  INFO(doctor.output);
  CHECK(contains(doctor.output, "the certificate is for localhost"));
  CHECK(contains(doctor.output, "not for zk.example"));

  const Result wrong =
      run(CUSTODIAN_CLI, {"--servers", secure, "--tls-ca", "/nowhere/ca.pem", "doctor"});
  INFO(wrong.output);
  CHECK(wrong.status == 64);
  CHECK(contains(wrong.output, "/nowhere/ca.pem"));
}

TEST_CASE("with TLS an admin server is asked, by plain HTTP, only at a port that is given") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  // The server does not allow the four-letter word cons, which lists its clients' addresses.
  TestingServer server{
      server_with(the_authority().server_tls(), {"4lw.commands.whitelist=srvr,conf"})};
  const Directory files;
  Client client{secure_options(server.secure_endpoint(), files)};
  InterProcessMutex mutex{client, "/lock"};
  const Lease held = mutex.acquire();

  boost::asio::io_context context;
  boost::asio::ip::tcp::acceptor admin_server{context,
                                              {boost::asio::ip::address_v4::loopback(), 0}};
  admin_server.non_blocking(true);
  const auto is_asked = [&] {
    boost::system::error_code nobody;
    boost::asio::ip::tcp::socket caller{context};
    admin_server.accept(caller, nobody);
    return !nobody;
  };
  std::vector<std::string> words{"--servers", "secure://" + to_string(server.secure_endpoint()),
                                 "--tls-ca",  files.with("ca.pem", the_authority().certificate()),
                                 "inspect",   "/lock"};
  const Result unasked = run(CUSTODIAN_CLI, words);
  INFO(unasked.output);
  CHECK(unasked.status == 0);
  CHECK_FALSE(is_asked());

  words.insert(words.end(), {"--admin-port", std::to_string(admin_server.local_endpoint().port())});
  // The command is run repeatedly: as long as a server is slow to refuse the word, its admin server
  // is not asked.
  CHECK(eventually([&] { return run(CUSTODIAN_CLI, words).status == 0 && is_asked(); }));
}

TEST_CASE("credentials without TLS are a warning of the doctor's") {
  const Result doctor = run(CUSTODIAN_CLI, {"--servers", connect_string(), "--auth",
                                            "digest:joe:secret", "doctor", "--admin-port", "0"});
  INFO(doctor.output);
  CHECK(contains(doctor.output, "credentials are sent without TLS"));
}

}  // namespace
}  // namespace custodian::tests::cli_tls_test
