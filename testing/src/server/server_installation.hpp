#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "custodian/testing/testing_server.hpp"

namespace custodian::testing {

/// The command that runs a server in its directory, where `write_config()` has put zoo.cfg. Throws
/// `TestingError`, naming the packages, if ZooKeeper is not installed.
[[nodiscard]] std::vector<std::string> server_command(const TestingServerOptions& options);

struct ClientPorts {
  std::uint16_t plain = 0;
  std::uint16_t secure = 0;  ///< 0 without TLS
};

/// Writes zoo.cfg, and the files that it names.
void write_config(const TestingServerOptions& options, const std::filesystem::path& directory,
                  ClientPorts ports);

/// The guardian's path.
[[nodiscard]] std::string guardian_program(const TestingServerOptions& options);

/// Says what to install, for the end of an error message.
[[nodiscard]] std::string how_to_install(const TestingServerOptions& options);

}  // namespace custodian::testing
