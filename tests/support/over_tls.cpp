#include "support/over_tls.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

namespace custodian::tests {
namespace {

const testing::CertificateAuthority& authority() {
  static const testing::CertificateAuthority made;
  return made;
}

/// Writes a file in memory and returns its path. Nothing is left behind, in whatever way the
/// process ends.
std::string file_in_memory(std::string_view text) {
  const int descriptor = ::memfd_create("custodian-test-authority", MFD_CLOEXEC);
  if (descriptor < 0 ||
      ::write(descriptor, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw std::system_error{errno, std::generic_category(), "a file in memory"};
  }
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(descriptor);
}

}  // namespace

bool over_tls() {
  const char* wanted = std::getenv("CUSTODIAN_TEST_TLS");
  return wanted != nullptr && std::string_view{wanted} == "1" &&
         std::getenv("CUSTODIAN_TEST_SERVERS") == nullptr;
}

const std::string& authority_file() {
  static const std::string path = file_in_memory(authority().certificate());
  return path;
}

std::vector<std::string> words_for_tls() {
  if (!over_tls()) return {};
  return {"--tls-ca", authority_file()};
}

testing::TestingServerOptions secured(testing::TestingServerOptions options) {
  // The names end in .test for tests with a resolver of their own.
  if (over_tls() && !options.tls) {
    options.tls =
        authority().server_tls(testing::ClientCertificates::ignored,
                               {.names = {"localhost", "two-addresses.test", "two-families.test"}});
  }
  return options;
}

testing::TestingClusterOptions secured(testing::TestingClusterOptions options) {
  options.server = secured(std::move(options.server));
  return options;
}

ClientOptions secured(ClientOptions options) {
  if (over_tls()) options.tls = TlsOptions{.ca_file = authority_file()};
  return options;
}

const testing::ServerEndpoint& entry_of(const testing::TestingServer& server) {
  return over_tls() ? server.secure_endpoint() : server.endpoint();
}

std::string connect_string(const testing::TestingCluster& cluster) {
  return over_tls() ? cluster.secure_connect_string() : cluster.connect_string();
}

}  // namespace custodian::tests
