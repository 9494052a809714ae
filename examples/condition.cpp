// Orders are kept on the servers. A packer waits until there is an order; a clerk who adds an order
// signals the condition. Packer and clerk may be processes on different machines; here they are
// threads.
//
//   custodian-example-condition 127.0.0.1:2181

#include <iostream>
#include <mutex>
#include <string>
#include <thread>

#include "custodian/client.hpp"
#include "custodian/conditions/inter_process_condition.hpp"
#include "custodian/locks/inter_process_mutex.hpp"

namespace {

constexpr auto orders = "/examples/orders/open";

void pack(const std::string& servers, int count) {
  custodian::Client client{servers};
  custodian::InterProcessMutex mutex{client, "/examples/orders/lock"};
  const custodian::InterProcessCondition changed{mutex, "/examples/orders/changed"};
  for (int packed = 0; packed < count; ++packed) {
    std::unique_lock lock{mutex};
    const auto is_order_there = [&] { return !client.children(orders).names.empty(); };
    changed.wait(lock, is_order_there);
    const std::string order = client.children(orders).names.front();
    client.remove(orders + ("/" + order));
    std::cout << "packed " + order + "\n";
  }
}

void take_in(const std::string& servers, const std::string& order) {
  custodian::Client client{servers};
  custodian::InterProcessMutex mutex{client, "/examples/orders/lock"};
  const custodian::InterProcessCondition changed{mutex, "/examples/orders/changed"};
  const std::scoped_lock lock{mutex};
  client.create(orders + ("/" + order));
  changed.notify_one();
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    custodian::Client client{argv[1]};
    client.create(orders, "", {.parents = custodian::Parents::created_as_containers});
    {
      const std::jthread packer{pack, argv[1], 2};
      take_in(argv[1], "books");
      take_in(argv[1], "shoes");
    }
    client.remove(orders);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
