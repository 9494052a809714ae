#include <custodian/discovery/instance_json.hpp>
#include <custodian/discovery/service_provider.hpp>

int main() {
  custodian::Client client{"127.0.0.1:1"};
  const custodian::ServiceDiscovery discovery{client, "/services"};
  custodian::ServiceProvider printers{discovery, "printer"};
  const auto read = custodian::decode_instance(R"({"name":"printer","port":631})");
  return !printers.get() && read.instance && read.instance->port == 631 ? 0 : 1;
}
