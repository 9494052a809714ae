// Two printers register themselves, a client finds them, and avoids one that fails.
//
//   custodian-example-discovery 127.0.0.1:2181

#include <iostream>
#include <optional>
#include <string>
#include <thread>

#include "custodian/client.hpp"
#include "custodian/discovery/service_discovery.hpp"
#include "custodian/discovery/service_provider.hpp"

namespace {

using custodian::Registration;
using custodian::ServiceDiscovery;
using custodian::ServiceInstance;
using custodian::ServiceProvider;

/// A printer's process calls this when it starts. The printer's node lives as long as the
/// registration that is returned.
Registration start_printer(const ServiceDiscovery& discovery, const std::string& id, int port) {
  return discovery.register_service(
      {.name = "printer",
       .id = id,  // a restarted process takes over the node of its earlier life
       .address = "10.0.0.7",
       .port = port,
       .payload = custodian::object_payload("com.example.PrinterDetails", R"({"colour":true})"),
       .uri_spec = custodian::UriSpec{"{scheme}://{address}:{port}/{name}"}});
}

/// Prints on the printers in turn, as far as this program knows them.
void print_pages(ServiceProvider& printers, int pages) {
  for (int page = 1; page <= pages; ++page) {
    const std::optional<ServiceInstance> printer = printers.get();
    if (!printer) {
      std::cout << "no printer is there\n";
      return;
    }
    std::cout << "page " << page << " goes to " << printer->uri() << '\n';
  }
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    custodian::Client client{argv[1]};
    const ServiceDiscovery discovery{client, "/examples/services"};
    const Registration first = start_printer(discovery, "first", 631);
    Registration second = start_printer(discovery, "second", 632);
    for (const ServiceInstance& each : discovery.instances("printer")) {
      std::cout << each.id << " is at " << each.uri() << ", and says " << *each.payload << '\n';
    }

    ServiceProvider printers{discovery, "printer"};
    if (!printers.wait_any()) return 1;
    while (printers.all().size() < 2) std::this_thread::yield();
    print_pages(printers, 4);

    // The first printer fails twice: for half a minute this program does not choose it.
    for (int i = 0; i < 2; ++i) printers.note_error(first.instance());
    print_pages(printers, 2);

    // The second printer is taken out of service; its process goes on.
    ServiceInstance disabled = second.instance();
    disabled.enabled = false;
    second.update(disabled);
    while (!printers.all().empty()) std::this_thread::yield();
    print_pages(printers, 1);
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
