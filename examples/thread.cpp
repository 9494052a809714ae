// A lock in a thread: used like a mutex of the standard library, but for all processes on all
// machines.
//
//   custodian-example-thread 127.0.0.1:2181

#include <iostream>
#include <mutex>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"

void print_alone(const custodian::Client& client) {
  custodian::InterProcessMutex mutex{client, "/examples/printer"};
  const std::scoped_lock guard{mutex};
  // Only one thread at a time gets here, of all processes that use this path on these servers.
  const custodian::Lease lease = mutex.current_lease();
  std::cout << "printing with token " << to_string(lease.token()) << '\n';
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    const custodian::Client client{argv[1]};
    print_alone(client);
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
