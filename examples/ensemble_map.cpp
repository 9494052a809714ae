// Locks that are divided among several ensembles: a connection string for each.
//
//   custodian-example-ensemble_map 127.0.0.1:2181 127.0.0.1:2182

#include "custodian/ensembles/ensemble_map.hpp"

#include <cstddef>
#include <iostream>
#include <map>
#include <string>

#include "custodian/client_options.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/striped_mutex.hpp"

// All processes have the same layout: from their configuration, as here from the command line.
custodian::EnsembleLayout layout_of(int ensembles) {
  custodian::EnsembleLayout layout{.version = 1, .depth = 3};
  for (int i = 1; i <= ensembles; ++i) layout.ensembles["zk-" + std::to_string(i)] = 1;
  // All settings are at one ensemble, so that a transaction can change several of them.
  layout.pins["/examples/settings"] = "zk-1";
  return layout;
}

custodian::EnsembleMap connect(const custodian::EnsembleLayout& layout, char* servers[]) {
  std::map<std::string, custodian::ClientOptions> options;
  for (const auto& [name, weight] : layout.ensembles) {
    options[name].servers = *++servers;
    // Each token after a change of the layout is greater than all tokens before the change.
    options[name].fencing_epoch = layout.version;
  }
  return custodian::EnsembleMap{layout, options};
}

void pack(const custodian::EnsembleMap& map, const std::string& order) {
  const std::string path = "/examples/orders/" + order;
  auto mutex = map.make<custodian::InterProcessMutex>(path);
  const custodian::Lease lease = mutex.acquire();
  std::cout << "packing " << order << ", locked at " << map.home_of(path) << '\n';
}

void sell(const custodian::EnsembleMap& map) {
  // Depth 3 reaches the stripes, /examples/stock/0 and so on: each has a home of its own.
  custodian::StripedMutex stock{map, "/examples/stock", 8};
  const custodian::StripeLease any = stock.acquire_any();
  std::cout << "selling from stripe " << any.index << '\n';
}

int main(int argc, char* argv[]) {
  if (argc < 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...] ...\n";
    return 2;
  }
  try {
    const custodian::EnsembleMap map = connect(layout_of(argc - 1), argv);
    // Throws if another process has another layout, which would have other homes for some paths.
    map.verify("/examples/layout");
    std::cout << "layout " << map.fingerprint() << '\n';
    for (int order = 1; order <= 6; ++order) pack(map, std::to_string(order));
    sell(map);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
