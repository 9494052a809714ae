#pragma once

/// \file
/// A client that follows its ensemble, and the configurations that its servers publish.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scripted/noted_session.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

inline const std::string config_path = "/zookeeper/config";
inline const std::string two_members =
    "server.1=zk1:2888:3888:participant;0.0.0.0:2181\n"
    "server.2=zk2:2888:3888:participant;0.0.0.0:2181\n"
    "version=100000000";

/// A client that follows its ensemble. Records the servers that are given to its sessions.
struct Following {
  /// Makes the options of a client of the server zk1. A test may change them before begin().
  explicit Following(std::optional<RetryPolicy> retry = {}) : options{world.options("observed")} {
    world.make("/zookeeper");
    if (retry) options.retry = *retry;
    options.servers = "zk1";
    options.follow_ensemble = true;
    options.session_factory = noting(options.session_factory, given);
    options.log = [this](LogLevel level, std::string_view line) {
      const bool is_of_ensemble = line.find("ensemble") != std::string_view::npos;
      if (level == LogLevel::warning && is_of_ensemble) warnings.emplace_back(line);
      if (level == LogLevel::info) informed += std::string{line} + '\n';
    };
  }
  ~Following() {
    if (client) CHECK(world.end(client));
  }
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;

  /// Makes the servers publish this configuration, and begins.
  void begin_with(const std::string& config) {
    world.make(config_path, config);
    begin();
  }
  void begin() { client = world.client(options); }
  void configure(const std::string& config) {
    world.ensemble.operate(request::Set{config_path, config});
  }
  [[nodiscard]] bool gets(const std::string& servers) {
    return world.run_until([&] { return given->servers.back() == servers; });
  }
  /// Runs until there are `times` warnings. Returns whether there are no more, and the last one has
  /// this text.
  [[nodiscard]] bool is_warned(std::size_t times, const std::string& text) {
    return world.run_until([&] { return warnings.size() >= times; }) && warnings.size() == times &&
           warnings.back().find(text) != std::string::npos;
  }
  [[nodiscard]] bool is_informed(const std::string& text) {
    return world.run_until([&] { return informed.find(text) != std::string::npos; });
  }
  void reconnect() {
    const auto before = client->session().connection;
    world.ensemble.disconnect(client->session().id);
    CHECK(world.run_until([&] { return client->session().connection > before; }));
  }
  void lose_session() {
    const std::int64_t session = client->session().id;
    world.ensemble.expire(session);
    CHECK(world.run_until([&] {
      return client->session().id != session && is_connected(client->connection_state());
    }));
  }

  const std::shared_ptr<Given> given = std::make_shared<Given>();
  std::vector<std::string> warnings;  ///< warnings about the ensemble
  std::string informed;               ///< all lines of the level info
  World world;
  ClientOptions options;
  std::unique_ptr<Client> client;
};

}  // namespace custodian::tests
