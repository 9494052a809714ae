#include "discovery/discover_command.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "custodian/authoring/path.hpp"
#include "custodian/discovery/service_discovery.hpp"
#include "discovery/instance_view.hpp"
#include "options/exit_status.hpp"
#include "options/path_argument.hpp"
#include "options/usage_error.hpp"
#include "queue/looking.hpp"
#include "text/json_text.hpp"
#include "text/printable_text.hpp"

namespace custodian::cli {
namespace {

struct DiscoverRequest {
  std::string base{};
  std::string name{};
  bool json = false;
};

/// The children of a node, in their order; none if the node does not exist.
std::vector<std::string> children_of(const Client& client, const std::string& path) {
  try {
    std::vector<std::string> names = client.children(path).names;
    std::ranges::sort(names);
    return names;
  } catch (const Error& error) {
    if (error.code() != ServerErrc::no_node) throw;
    return {};
  }
}

/// Reads the instances of a service. A node that has gone meanwhile is left out.
std::vector<SeenInstance> look_at(const Client& client, const std::string& service) {
  std::vector<SeenInstance> seen;
  for (const std::string& name : children_of(client, service)) {
    SeenInstance one{.node = join(service, name)};
    try {
      GetResult read = client.get(one.node);
      one.stat = read.stat;
      one.decoded = decode_instance(read.data);
    } catch (const Error& error) {
      if (error.code() == ServerErrc::no_node) continue;
      if (error.code() != ServerErrc::no_auth) throw;
      one.decoded.fault = error.code().message();
    }
    seen.push_back(std::move(one));
  }
  return seen;
}

void show_services(const Client& client, const DiscoverRequest& request) {
  const ServiceDiscovery discovery{client, request.base};
  Json json;
  json["base"] = request.base;
  json["services"] = Json::array();
  for (const std::string& name : discovery.names()) {
    const std::size_t instances = children_of(client, join(request.base, name)).size();
    json["services"].push_back({{"name", name}, {"instances", instances}});
    if (!request.json) {
      std::cout << printable(name) << "  " << instances
                << (instances == 1 ? " instance\n" : " instances\n");
    }
  }
  if (request.json) {
    std::cout << to_line(json) << '\n';
  } else if (json["services"].empty()) {
    std::cout << "there is no service at " << printable(request.base) << '\n';
  }
}

void show_instances(const Client& client, const DiscoverRequest& request) {
  const std::string service = join(request.base, request.name);
  client.sync(service);
  const std::vector<SeenInstance> seen = look_at(client, service);
  if (request.json) {
    Json json;
    json["base"] = request.base;
    json["name"] = request.name;
    json["instances"] = Json::array();
    json["malformed"] = Json::array();
    for (const SeenInstance& each : seen) {
      json[each.decoded.instance ? "instances" : "malformed"].push_back(json_of(each));
    }
    std::cout << to_line(json) << '\n';
    return;
  }
  for (const SeenInstance& each : seen) std::cout << line_of(each) << '\n';
  if (seen.empty()) std::cout << "there is no instance at " << printable(service) << '\n';
}

int discover(const GlobalOptions& options, const DiscoverRequest& request) {
  if (request.name.find('/') != std::string::npos) {
    throw UsageError{"the name of a service has no slash"};
  }
  const Client client = connect(options);
  if (request.name.empty()) {
    show_services(client, request);
  } else {
    show_instances(client, request);
  }
  return to_int(ExitStatus::ok);
}

}  // namespace

void add_discover_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      app.add_subcommand("discover", "shows services that have registered, and their instances");
  command->group(looking_group);
  command->footer(
      "Those of Apache Curator's service discovery, and of Spring Cloud, too.\n\n"
      "Examples:\n"
      "  custodian discover /services\n"
      "  custodian discover /services printer --json");
  const auto request = std::make_shared<DiscoverRequest>();
  add_path_argument(*command, request->base, "the path below which services register")->required();
  command->add_option("NAME", request->name, "the service whose instances are shown");
  command->add_flag("--json", request->json, "one line of JSON");
  command->callback([&invocation, request] {
    invocation.run = [request](const GlobalOptions& options) {
      return with_errors_said([&] { return discover(options, *request); });
    };
  });
}

}  // namespace custodian::cli
