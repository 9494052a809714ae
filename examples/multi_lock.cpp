// Several locks as one: all of them or none.
//
//   custodian-example-multi_lock 127.0.0.1:2181

#include <chrono>
#include <iostream>

#include "custodian/client.hpp"
#include "custodian/recipes/inter_process_multi_lock.hpp"
#include "custodian/recipes/inter_process_mutex.hpp"

using namespace std::chrono_literals;

void transfer(const custodian::Client& client) {
  // In one order wherever these two are wanted together, or two callers wait for each other.
  const custodian::InterProcessMutex from{client, "/examples/accounts/1"};
  const custodian::InterProcessMutex to{client, "/examples/accounts/2"};
  custodian::InterProcessMultiLock both{{from, to}};

  const custodian::GroupAcquireResult result = both.try_acquire_for(10s);
  if (!result) {
    std::cout << "not now; in the way at " << result.path << '\n';
    return;
  }
  for (const custodian::Lease& lease : result.leases.leases())
    std::cout << "holding one with token " << to_string(lease.token()) << '\n';
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    const custodian::Client client{argv[1]};
    transfer(client);
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
