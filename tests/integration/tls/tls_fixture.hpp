// Helpers of the TLS suite: a server with certificates, files for clients, and a client's log.
#pragma once

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "custodian/testing/certificate_authority.hpp"
#include "custodian/testing/testing_server.hpp"
#include "support/directory.hpp"
#include "support/test_client.hpp"

namespace custodian::tests {

/// The authority of the suite: its keys are made once.
inline const testing::CertificateAuthority& the_authority() {
  static const testing::CertificateAuthority authority;
  return authority;
}

/// Replaces a file, as a tool that renews certificates does, and makes sure that its time differs.
inline void replace(const Directory& files, const std::string& name, const std::string& text) {
  const auto before = std::filesystem::last_write_time(files.file(name));
  std::filesystem::last_write_time(files.with(name, text), before + std::chrono::seconds{1});
}

/// The lines of a client's log.
class Log {
 public:
  [[nodiscard]] LogSink sink() {
    return [this](LogLevel level, std::string_view line) {
      const std::lock_guard lock{mutex_};
      lines_.emplace_back(std::string{to_string(level)}.append(": ").append(line));
    };
  }
  [[nodiscard]] bool contains(const std::string& text) const {
    const std::lock_guard lock{mutex_};
    return std::ranges::any_of(
        lines_, [&](const std::string& line) { return line.find(text) != std::string::npos; });
  }
  [[nodiscard]] std::size_t count(const std::string& text) const {
    const std::lock_guard lock{mutex_};
    return static_cast<std::size_t>(std::ranges::count_if(
        lines_, [&](const std::string& line) { return line.find(text) != std::string::npos; }));
  }
  [[nodiscard]] std::string all() const {
    const std::lock_guard lock{mutex_};
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

inline testing::TestingServerOptions server_with(testing::ServerTls tls,
                                                 std::vector<std::string> config_lines = {}) {
  testing::TestingServerOptions options;
  options.tls = std::move(tls);
  options.config_lines = std::move(config_lines);
  return options;
}

/// zoo.cfg's lines for a server of TLS 1.3. Without the last one 3.8 offers none of its ciphers.
inline std::vector<std::string> only_tls_1_3() {
  return {"ssl.protocol=TLSv1.3", "ssl.enabledProtocols=TLSv1.3",
          "ssl.ciphersuites=TLS_AES_256_GCM_SHA384,TLS_AES_128_GCM_SHA256"};
}

/// Options for a client of this endpoint that trusts the suite's authority.
inline ClientOptions secure_options(const testing::ServerEndpoint& endpoint,
                                    const Directory& files) {
  ClientOptions options = options_for(to_string(endpoint));
  options.tls.emplace();
  options.tls->ca_file = files.with("ca.pem", the_authority().certificate());
  return options;
}

}  // namespace custodian::tests
