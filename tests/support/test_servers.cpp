#include "support/test_servers.hpp"

#include <cctype>
#include <cstdlib>
#include <random>
#include <sstream>
#include <stdexcept>

namespace custodian::tests {
namespace {

std::string foreign_servers() {
  const char* servers = std::getenv("CUSTODIAN_TEST_SERVERS");
  return servers != nullptr ? servers : "";
}

std::string random_name() {
  std::random_device device;
  std::ostringstream name;
  name << std::hex << device() << device();
  return name.str();
}

}  // namespace

bool servers_are_foreign() { return !foreign_servers().empty(); }

Server& own_server() {
  if (servers_are_foreign())
    throw std::logic_error{"CUSTODIAN_REQUIRES_OWN_SERVER() is missing in this test"};
  static Server server;
  return server;
}

std::string connect_string() {
  return servers_are_foreign() ? foreign_servers() : own_server().connect_string();
}

testing::ServerEndpoint client_endpoint() {
  return testing::parse_endpoints(connect_string()).front();
}

testing::ServerEndpoint server_endpoint() {
  return servers_are_foreign() ? client_endpoint() : own_server().plain_endpoint();
}

std::string unique_root(std::string_view name) {
  static const std::string run = random_name();
  std::string slug;
  for (const char character : name) {
    slug += std::isalnum(static_cast<unsigned char>(character)) != 0 ? character : '-';
  }
  return "/custodian-test/" + run + "/" + slug;
}

}  // namespace custodian::tests
