// A service opens when all of its parts, on any machine, have said that they are ready.
//
//   custodian-example-count_down_latch 127.0.0.1:2181

#include "custodian/barriers/count_down_latch.hpp"

#include <chrono>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "custodian/client.hpp"

using namespace std::chrono_literals;

// A latch can be used only once, so each version of the service has a path of its own.
constexpr auto path = "/examples/start/release-7";
constexpr int parts = 3;

void start_part(const custodian::Client& client, const std::string& name) {
  custodian::CountDownLatch ready{client, path, parts};
  std::cout << name + " is ready\n";
  ready.arrive_and_wait();
  std::cout << name + " serves\n";
}

void open(const custodian::Client& client) {
  const custodian::CountDownLatch ready{client, path, parts};
  while (!ready.wait_for(10s)) {
    std::cout << "still waiting for " + std::to_string(ready.count()) + " parts\n";
  }
  std::cout << "the service is open\n";
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    const custodian::Client client{argv[1]};
    client.wait_connected();
    {
      std::vector<std::jthread> all;
      for (const char* name : {"the database", "the cache", "the gate"}) {
        all.emplace_back([&client, name] { start_part(client, name); });
      }
      open(client);
    }
    custodian::CountDownLatch{client, path, parts}.remove();
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
