// The settings of a service are nodes, which each process mirrors in its memory: reading a setting
// costs no request, and the servers notify the process of each change.
//
//   custodian-example-mirror 127.0.0.1:2181

#include <iostream>
#include <string>

#include "custodian/client.hpp"
#include "custodian/mirror/tree_cache.hpp"

const std::string path = "/examples/settings";

void show(const custodian::MirrorChange& change) {
  const auto& node = change.node ? change.node : change.before;
  std::cout << to_string(change.kind) << (node ? " " + node->path : "") << '\n';
}

void serve(const custodian::TreeCache& settings) {
  const auto limit = settings.get(path + "/limit");  // from memory, on any thread
  std::cout << "serving, with a limit of " << (limit ? limit->data : "nothing") << '\n';
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    custodian::Client client{argv[1]};
    client.create(path + "/limit", "10", {.parents = custodian::Parents::created_as_containers});
    custodian::TreeCache settings{client, path};
    // The stream begins with the nodes that are there.
    while (settings.next().kind != custodian::MirrorChangeKind::synced) {
    }
    serve(settings);

    client.set(path + "/limit", "20");  // an operator, elsewhere
    while (true) {
      const custodian::MirrorChange change = settings.next();
      show(change);
      if (change.kind == custodian::MirrorChangeKind::changed) break;
    }
    serve(settings);
    client.remove(path + "/limit");
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
