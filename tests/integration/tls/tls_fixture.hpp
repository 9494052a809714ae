// Helpers of the TLS suite: a server with certificates, and files for clients.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "custodian/testing/certificate_authority.hpp"
#include "custodian/testing/testing_server.hpp"
#include "support/directory.hpp"
#include "support/log_lines.hpp"
#include "support/test_client.hpp"

namespace custodian::tests {

/// The authority of the suite, which makes its keys only once.
inline const testing::CertificateAuthority& the_authority() {
  static const testing::CertificateAuthority authority;
  return authority;
}

/// Replaces a file, as a tool that renews certificates does, and makes sure that its time differs.
inline void replace(const Directory& files, const std::string& name, const std::string& text) {
  const auto before = std::filesystem::last_write_time(files.file(name));
  std::filesystem::last_write_time(files.with(name, text), before + std::chrono::seconds{1});
}

inline testing::TestingServerOptions server_with(testing::ServerTls tls,
                                                 std::vector<std::string> config_lines = {}) {
  testing::TestingServerOptions options;
  options.tls = std::move(tls);
  options.config_lines = std::move(config_lines);
  return options;
}

/// Lines of zoo.cfg for a server that speaks only TLS 1.3. Without the last line ZooKeeper 3.8
/// offers no cipher of TLS 1.3.
inline std::vector<std::string> only_tls_1_3() {
  return {"ssl.protocol=TLSv1.3", "ssl.enabledProtocols=TLSv1.3",
          "ssl.ciphersuites=TLS_AES_256_GCM_SHA384,TLS_AES_128_GCM_SHA256"};
}

/// The options of a client of this endpoint that trusts the suite's authority.
inline ClientOptions secure_options(const testing::ServerEndpoint& endpoint,
                                    const Directory& files) {
  ClientOptions options = options_for(to_string(endpoint));
  options.tls.emplace();
  options.tls->ca_file = files.with("ca.pem", the_authority().certificate());
  return options;
}

}  // namespace custodian::tests
