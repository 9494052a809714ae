// Starts a server from a thread that ends, prints "<directory> <port>" and waits to be killed.
#include <unistd.h>

#include <iostream>
#include <memory>
#include <thread>

#include "custodian/testing/testing_server.hpp"

int main() {
  std::unique_ptr<custodian::testing::TestingServer> server;
  std::thread{[&server] { server = std::make_unique<custodian::testing::TestingServer>(); }}.join();
  std::cout << server->directory().string() << ' ' << server->port() << '\n' << std::flush;
  for (;;) pause();
}
