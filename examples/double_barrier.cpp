// A load test begins when all of its machines are there, and ends when the last one is done.
//
//   custodian-example-double_barrier 127.0.0.1:2181

#include <chrono>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "custodian/barriers/distributed_double_barrier.hpp"
#include "custodian/client.hpp"

using namespace std::chrono_literals;

constexpr int machines = 3;

void test(const custodian::Client& client, int number) {
  const std::string name = "machine " + std::to_string(number);
  custodian::DistributedDoubleBarrier load{client, "/examples/load", machines};
  if (!load.try_enter_for(30s)) {
    std::cout << name + ": not all machines are there\n";
    return;
  }
  std::cout << name + " begins\n";
  std::this_thread::sleep_for(number * 50ms);  // here it sends its requests
  load.leave();
  std::cout << name + ": all are done\n";
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    const custodian::Client client{argv[1]};
    client.wait_connected();
    std::vector<std::jthread> all;
    for (int number = 1; number <= machines; ++number) {
      all.emplace_back([&client, number] { test(client, number); });
    }
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
