// A barrier keeps the workers of all machines waiting while a schema is migrated.
//
//   custodian-example-barrier 127.0.0.1:2181

#include <chrono>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "custodian/barriers/distributed_barrier.hpp"
#include "custodian/client.hpp"

using namespace std::chrono_literals;

void work(const custodian::Client& client, int number) {
  const custodian::DistributedBarrier migration{client, "/examples/migration"};
  if (!migration.wait_for(50ms)) std::cout << "worker " + std::to_string(number) + " has to wait\n";
  migration.wait();
  std::cout << "worker " + std::to_string(number) + " works\n";
}

void migrate(const custodian::Client& client) {
  custodian::DistributedBarrier migration{client, "/examples/migration"};
  migration.set();
  std::vector<std::jthread> workers;
  for (int number = 1; number <= 3; ++number) {
    workers.emplace_back([&client, number] { work(client, number); });
  }
  std::this_thread::sleep_for(200ms);  // here the schema changes
  migration.remove();
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    const custodian::Client client{argv[1]};
    migrate(client);
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
