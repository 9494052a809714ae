// A node that says that this process is there, and what it does.
//
//   custodian-example-persistent_node 127.0.0.1:2181

#include "custodian/nodes/persistent_node.hpp"

#include <iostream>
#include <syncstream>
#include <thread>

#include "custodian/client.hpp"

namespace {

/// Prints each state of the node, for as long as the subscription lives.
custodian::Subscription follow(const custodian::PersistentNode& node) {
  return node.on_state([](custodian::PersistentNode::State state, custodian::error_code error) {
    // The whole line is one write, because several threads print.
    std::osyncstream{std::cout} << "the node is " << to_string(state)
                                << (error ? ": " + error.message() : "") << '\n';
  });
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    custodian::Client client{argv[1]};
    custodian::PersistentNode node{client, "/examples/workers/worker-1", "starting"};
    node.wait_present();
    const custodian::Subscription subscription = follow(node);
    node.set_data("working");
    std::osyncstream{std::cout} << node.path() << " says " << client.get(node.path()).data << '\n';

    // An operator deletes the node. The node comes back, with its last data.
    client.remove(node.path());
    while (!client.exists(node.path())) std::this_thread::yield();
    node.wait_present();
    std::osyncstream{std::cout} << node.path() << " says " << client.get(node.path()).data << '\n';

    node.close();
    std::osyncstream{std::cout} << (client.exists(node.path()) ? "it is there\n" : "it is gone\n");
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
