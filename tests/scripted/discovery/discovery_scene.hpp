#pragma once

/// \file
/// DiscoveryScene is a world with a client, whose warnings are kept, and a discovery at
/// "/services".

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "custodian/discovery/service_discovery.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

inline ServiceInstance printer(std::string id) {
  return {.name = "printer", .id = std::move(id), .address = "10.0.0.1", .port = 631};
}

struct DiscoveryScene {
  explicit DiscoveryScene(DiscoveryOptions options = {})
      : client{logging_client()}, discovery{*client, base, std::move(options)} {}

  /// Ends the client: one that is destroyed with its context is never freed.
  ~DiscoveryScene() {
    if (client) CHECK(world.run_until_idle(*client));
    client.reset();
    world.settle();
  }
  DiscoveryScene(const DiscoveryScene&) = delete;
  DiscoveryScene& operator=(const DiscoveryScene&) = delete;

  [[nodiscard]] std::unique_ptr<Client> logging_client() {
    ClientOptions options = world.options("one");
    options.log = [lines = warnings](LogLevel level, std::string_view line) {
      if (level == LogLevel::warning) lines->emplace_back(line);
    };
    return world.client(std::move(options));
  }
  /// Registers an instance.
  Registration add(ServiceInstance instance) { return add(discovery, std::move(instance)); }
  Registration add(const ServiceDiscovery& with, ServiceInstance instance) {
    auto outcome = run<Registration>(
        world, [&](auto done) { with.async_register_service(std::move(instance), done); });
    REQUIRE(outcome.arrived());
    REQUIRE_FALSE(outcome.error());
    return std::move(outcome.result());
  }
  /// Makes a node of the service, as another client would.
  void make(const std::string& id, std::string data) {
    if (!world.ensemble.exists(base)) world.make(base);
    if (!world.ensemble.exists("/services/printer")) world.make("/services/printer");
    world.make("/services/printer/" + id, std::move(data));
  }
  std::vector<ServiceInstance> instances() { return instances(discovery); }
  std::vector<ServiceInstance> instances(const ServiceDiscovery& with) {
    auto outcome = run<std::vector<ServiceInstance>>(
        world, [&](auto done) { with.async_instances("printer", done); });
    REQUIRE(outcome.arrived());
    REQUIRE_FALSE(outcome.error());
    return std::move(outcome.result());
  }
  std::vector<std::string> names() { return names(discovery); }
  std::vector<std::string> names(const ServiceDiscovery& with) {
    auto outcome = run<std::vector<std::string>>(world, [&](auto done) { with.async_names(done); });
    REQUIRE(outcome.arrived());
    REQUIRE_FALSE(outcome.error());
    return std::move(outcome.result());
  }
  Reply look(const std::string& path) { return world.ensemble.operate(request::Get{path}); }
  /// Whether a node is there, and of the client's present session.
  bool is_ours(const std::string& path) {
    const Reply node = look(path);
    return !node.error && node.stat.ephemeral_owner == client->session().id;
  }

  const std::string base = "/services";
  std::shared_ptr<std::vector<std::string>> warnings = std::make_shared<std::vector<std::string>>();
  World world;
  std::unique_ptr<Client> client;
  ServiceDiscovery discovery;
};

}  // namespace custodian::tests
