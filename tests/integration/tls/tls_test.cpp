// A client over TLS, even when its connection fails.

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <stdexcept>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "support/hashed_name.hpp"
#include "tls_fixture.hpp"

namespace custodian::tests::tls_test {
namespace {

using namespace std::chrono_literals;
using testing::ClientCertificates;
using testing::Direction;
using testing::FaultProxy;
using testing::TestingServer;

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    ++count;
  }
  return count;
}

/// Acquires the lock and releases it, so that the next caller can acquire it.
void check_lock(Client& client, const std::string& path) {
  InterProcessMutex mutex{client, path};
  const Lease lease = mutex.acquire();
  CHECK(lease);
}

TEST_CASE("nothing of what a client says is seen on the way") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{server_with(the_authority().server_tls())};
  std::mutex mutex;
  std::string seen;
  FaultProxy proxy{server.secure_endpoint(), {.edit_to_server = [&]() -> testing::StreamEdit {
                     return [&](std::string_view bytes) {
                       const std::lock_guard lock{mutex};
                       seen += bytes;
                       return std::string{bytes};
                     };
                   }}};
  const Directory files;
  for (const std::string host : {"localhost:", "127.0.0.1:"}) {
    ClientOptions options = secure_options(proxy.endpoint(), files);
    options.servers = "secure://" + host + std::to_string(proxy.endpoint().port);
    Client client{options};
    client.create("/visible-path" + host.substr(0, 3), "visible-data");
    CHECK(client.get("/visible-path" + host.substr(0, 3)).data == "visible-data");
    check_lock(client, "/visible-lock");
  }
  const std::lock_guard lock{mutex};
  CHECK_FALSE(seen.empty());
  CHECK(seen.find("visible") == std::string::npos);
}

TEST_CASE("a client's certificate is its identity in ACLs") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{server_with(the_authority().server_tls(ClientCertificates::needed))};
  const Directory files;
  const auto options_of = [&](const std::string& name) {
    const auto identity = the_authority().issue({.common_name = name});
    ClientOptions options = secure_options(server.secure_endpoint(), files);
    // One file has the certificate and the key.
    options.tls->certificate_chain_file =
        files.with(name + ".pem", identity.certificate + identity.key);
    return options;
  };
  Client anna{options_of("anna")};
  Client berta{options_of("berta")};
  anna.create("/annas", "1", {.acl = creator_all_acl()});
  CHECK(error_of([&] { static_cast<void>(berta.get("/annas")); }) == ServerErrc::no_auth);
  anna.create("/bertas", "2", {.acl = Acl{{.scheme = "x509", .id = "CN=berta,O=Custodian test"}}});
  CHECK(berta.get("/bertas").data == "2");
  CHECK(error_of([&] { static_cast<void>(anna.get("/bertas")); }) == ServerErrc::no_auth);
}

TEST_CASE("a key may be encrypted: its password is asked for, or in a file") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{server_with(the_authority().server_tls(ClientCertificates::needed))};
  const Directory files;
  const auto identity = the_authority().issue({.key_password = "pass word"});
  ClientOptions options = secure_options(server.secure_endpoint(), files);
  options.tls->certificate_chain_file = files.with("client.pem", identity.certificate);
  options.tls->private_key_file = files.with("client.key", identity.key);
  options.tls->private_key_password = [] { return std::string{"pass word"}; };
  Client{options}.wait_connected();
  options.tls->private_key_password = nullptr;
  options.tls->private_key_password_file = files.with("password", "pass word\nmore\n");
  Client{options}.wait_connected();
}

TEST_CASE("TLS 1.3 serves, too, with certificates of both") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{
      server_with(the_authority().server_tls(ClientCertificates::needed), only_tls_1_3())};
  const Directory files;
  const auto identity = the_authority().issue();
  ClientOptions options = secure_options(server.secure_endpoint(), files);
  options.tls->minimum_version = TlsVersion::tls_1_3;
  options.tls->certificate_chain_file =
      files.with("client.pem", identity.certificate + identity.key);
  Client client{options};
  check_lock(client, "/lock");
}

TEST_CASE("files that change are read again, and wrong ones are not used") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{server_with(the_authority().server_tls())};
  FaultProxy proxy{server.secure_endpoint()};
  const Directory files;
  LogLines log;
  ClientOptions options = secure_options(proxy.endpoint(), files);
  options.log = log.sink();
  Client client{options};
  client.wait_connected();

  replace(files, "ca.pem", "no certificate\n");
  proxy.cut();
  CHECK(eventually([&] {
    return log.contains("warning: the files of tls have changed, but cannot be used") &&
           is_connected(client.connection_state());
  }));

  const testing::CertificateAuthority other{"Another authority"};
  replace(files, "ca.pem", other.certificate());
  proxy.cut();
  CHECK(eventually([&] { return log.contains("certificate verify failed"); }));
  CHECK_FALSE(is_connected(client.connection_state()));

  replace(files, "ca.pem", other.certificate() + the_authority().certificate());
  CHECK(eventually([&] { return is_connected(client.connection_state()); }));
}

TEST_CASE("files that could not be used are read again, though they have not changed any more") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{server_with(the_authority().server_tls())};
  FaultProxy proxy{server.secure_endpoint()};
  const Directory files;
  LogLines log;
  std::atomic<bool> is_wrong{false};
  ClientOptions options = secure_options(proxy.endpoint(), files);
  options.log = log.sink();
  options.tls->configure = [&](ssl_ctx_st*) {
    if (is_wrong) throw std::runtime_error{"not just now"};
  };
  Client client{options};
  client.wait_connected();

  is_wrong = true;
  replace(files, "ca.pem", the_authority().certificate() + "\n");
  const auto reconnects = [&] {
    proxy.cut();
    return eventually([&] { return is_connected(client.connection_state()); });
  };
  const auto cannot_be_used = [&](const std::string& level) {
    return log.count(level +
                     ": the files of tls have changed, but cannot be used; the earlier ones "
                     "stay in use: not just now");
  };
  CHECK(eventually([&] { return reconnects() && cannot_be_used("warning") == 1; }));
  CHECK(eventually([&] { return reconnects() && cannot_be_used("debug") >= 1; }));
  is_wrong = false;
  CHECK(eventually([&] {
    return reconnects() && log.contains("info: the files of tls have changed, and were read again");
  }));
  CHECK(cannot_be_used("warning") == 1);
}

TEST_CASE("an authority that leaves the directory, or enters it, is noticed") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{server_with(the_authority().server_tls())};
  FaultProxy proxy{server.secure_endpoint()};
  const Directory authorities;
  const std::string name = hashed_name(the_authority().certificate());
  static_cast<void>(authorities.with(name, the_authority().certificate()));
  LogLines log;
  ClientOptions options = options_for(to_string(proxy.endpoint()));
  options.log = log.sink();
  options.tls.emplace();
  options.tls->ca_directory = authorities.path().string();
  Client client{options};
  client.wait_connected();

  // An OpenSSL context would cache the authority that it found in the directory; the client must
  // not use that.
  std::filesystem::remove(authorities.file(name));
  proxy.cut();
  CHECK(eventually([&] { return log.contains("certificate verify failed"); }));
  CHECK_FALSE(is_connected(client.connection_state()));
  static_cast<void>(authorities.with(name, the_authority().certificate()));
  CHECK(eventually([&] { return is_connected(client.connection_state()); }));
}

TEST_CASE("a node of a mebibyte passes in both directions, and so do many at once") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::TestingServerOptions with_room = server_with(the_authority().server_tls());
  with_room.jute_max_buffer = std::size_t{4} << 20U;
  TestingServer server{with_room};
  const Directory files;
  ClientOptions options = secure_options(server.secure_endpoint(), files);
  options.max_request_size = std::size_t{4} << 20U;
  options.session_timeout = 30s;
  Client client{options};
  std::string data(std::size_t{1} << 20U, ' ');
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 7 + i / 251);
  client.create("/large", data);
  std::vector<std::future<std::tuple<error_code, GetResult>>> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(begun<GetResult>([&](auto done) { client.async_get("/large", {}, done); }));
  }
  for (auto& each : all) {
    const auto [error, result] = each.get();
    REQUIRE_FALSE(error);
    CHECK(result.data == data);
  }
  // A frame of more than two MiB is handed on in parts.
  data.append(std::size_t{2} << 20U, 'x');
  client.set("/large", data);
  CHECK(client.get("/large").data == data);
}

TEST_CASE("a connection that is cut in any phase is followed by one that stands") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{server_with(the_authority().server_tls())};
  const Directory files;
  for (const Direction direction : {Direction::to_server, Direction::to_client}) {
    for (const auto ending : {testing::Ending::orderly, testing::Ending::reset}) {
      FaultProxy proxy{server.secure_endpoint()};
      const ClientOptions options = secure_options(proxy.endpoint(), files);
      // A handshake has some 700 bytes in one direction and 1,500 in the other, so these cuts fall
      // into all of its phases, and after it.
      for (std::uint64_t bytes = 0; bytes < 2000; bytes += 211) {
        proxy.cut_after_bytes(direction, bytes, ending);
        Client client{options};
        client.wait_connected({.deadline = patience});
        check_lock(client, "/lock");
      }
    }
  }
}

TEST_CASE("after many cuts the session is the same, and no descriptor more is open") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{server_with(the_authority().server_tls())};
  FaultProxy proxy{server.secure_endpoint()};
  const Directory files;
  Client client{secure_options(proxy.endpoint(), files)};
  check_lock(client, "/lock");
  const std::int64_t session = client.session().id;
  InterProcessMutex held_mutex{client, "/held"};
  const Lease held = held_mutex.acquire();
  proxy.cut();
  check_lock(client, "/lock");
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 100; ++i) {
    proxy.cut(i % 2 == 0 ? testing::Ending::orderly : testing::Ending::reset);
    check_lock(client, "/lock");
  }
  CHECK(held.state() == LeaseState::held);
  CHECK(client.session().id == session);
  CHECK(eventually([&] { return open_descriptors() <= before; }));
}

TEST_CASE("a close over TLS ends the session, long before its timeout") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{server_with(the_authority().server_tls())};
  const Directory files;
  Client observer{options_for(server.connect_string())};
  ClientOptions options = secure_options(server.secure_endpoint(), files);
  options.session_timeout = 2 * patience;
  for (int i = 0; i < 20; ++i) {
    Client client{options};
    client.create("/mine", "", {.mode = CreateMode::ephemeral});
    REQUIRE(client.session().timeout > patience);
    // close() does not wait for pending requests.
    for (int j = 0; j < i; ++j) client.async_get("/mine", {}, [](error_code, GetResult) {});
    client.close();
    // close() waits for the server for a second at most, in which a busy machine may not delete the
    // node.
    CHECK(eventually([&] { return !observer.exists("/mine"); }));
  }
}

TEST_CASE("a program that the process starts inherits no socket") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  TestingServer server{server_with(the_authority().server_tls())};
  const Directory files;
  const auto inherited = [] {
    std::size_t count = 0;
    for (int descriptor = 3; descriptor < 1024; ++descriptor) {
      struct stat status {};
      if (::fstat(descriptor, &status) != 0 || !S_ISSOCK(status.st_mode)) continue;
      if ((::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) == 0) ++count;
    }
    return count;
  };
  const std::size_t before = inherited();
  Client client{secure_options(server.secure_endpoint(), files)};
  check_lock(client, "/lock");
  CHECK(inherited() == before);
}

}  // namespace
}  // namespace custodian::tests::tls_test
