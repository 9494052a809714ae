// Processes compute in phases: each begins the next one when all have finished this one.
//
//   custodian-example-phases 127.0.0.1:2181

#include <atomic>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "custodian/barriers/inter_process_barrier.hpp"
#include "custodian/client.hpp"

constexpr int processes = 3;
constexpr int phases = 4;

void compute(const custodian::Client& client, std::atomic<int>& done) {
  custodian::InterProcessBarrier barrier{client, "/examples/phases", processes};
  for (int phase = 1; phase <= phases; ++phase) {
    ++done;  // here a part of the result is written
    barrier.arrive_and_wait();
    // All parts of this phase can be read.
    if (done < processes * phase) std::cout << "a part is missing\n";
  }
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    custodian::Client client{argv[1]};
    client.wait_connected();
    std::atomic<int> done = 0;
    {
      std::vector<std::jthread> all;
      for (int i = 0; i < processes; ++i) all.emplace_back([&] { compute(client, done); });
    }
    std::cout << "all " + std::to_string(done) + " parts are done\n";
    client.remove("/examples/phases");
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
