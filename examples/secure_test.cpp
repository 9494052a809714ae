// A server with TLS within a test, and two clients that the server knows by their certificates.
//
//   custodian-example-secure_test

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/testing/certificate_authority.hpp"
#include "custodian/testing/testing_server.hpp"

using namespace custodian;

namespace {

/// A temporary folder, which the destructor removes.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "secure-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no temporary folder"};
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void write(const std::string& below, const std::string& name, const std::string& text) const {
    std::filesystem::create_directory(path_ / below);
    std::ofstream{path_ / below / name} << text;
  }

 private:
  std::filesystem::path path_;
};

/// The options of a client whose `servers` are secure:
/// "secure://zk1.example:2281,zk2.example:2281".
ClientOptions secure_options(const std::string& servers, const std::string& folder) {
  ClientOptions options;
  options.servers = servers;
  options.tls = TlsOptions{.ca_file = folder + "/ca.pem",
                           .certificate_chain_file = folder + "/client.pem",
                           .private_key_file = folder + "/client.key"};
  return options;
}

/// Writes the certificates and the key of a client with this name, and returns their folder.
std::string files_for(const std::string& name, const testing::CertificateAuthority& authority,
                      const Folder& folder) {
  const testing::IssuedCertificate identity = authority.issue({.common_name = name});
  folder.write(name, "ca.pem", authority.certificate());
  folder.write(name, "client.pem", identity.certificate);
  folder.write(name, "client.key", identity.key);
  return folder.path() / name;
}

}  // namespace

int main() try {
  const Folder folder;

  const testing::CertificateAuthority authority;
  testing::TestingServerOptions server_options;
  server_options.tls = authority.server_tls(testing::ClientCertificates::needed);
  const testing::TestingServer server{server_options};
  const std::string servers = "secure://" + to_string(server.secure_endpoint());

  ClientOptions options = secure_options(servers, files_for("owner", authority, folder));
  options.acl_provider = [](std::string_view) { return creator_all_acl(); };
  Client client{options};
  client.create("/for-the-owner");
  client.create("/for-the-worker", "1",
                {.acl = Acl{{.scheme = "x509", .id = "CN=worker,O=Custodian test"}}});

  InterProcessMutex mutex{client, "/lock"};
  const Lease lease = mutex.acquire();
  std::cout << "locked over TLS, with token " << lease.token() << '\n';

  const Client worker{secure_options(servers, files_for("worker", authority, folder))};
  std::cout << "the worker reads " << worker.get("/for-the-worker").data << '\n';
  try {
    static_cast<void>(worker.get("/for-the-owner"));
  } catch (const Error& error) {
    std::cout << "and of the owner's: " << error.code().message() << '\n';
  }
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return EXIT_FAILURE;
}
