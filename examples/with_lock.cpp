// A function that runs under a lock: in one process at a time, on all machines. Callers that do not
// get the lock in two seconds skip the function.
//
//   custodian-example-with_lock 127.0.0.1:2181

#include "custodian/locks/with_lock.hpp"

#include <chrono>
#include <iostream>
#include <string>

#include "custodian/client.hpp"
#include "custodian/locks/path_of.hpp"

using namespace std::chrono_literals;

/// Makes the report and returns its number of pages; 0 if the lock was not free in two seconds.
int make_report(const custodian::Client& client, const std::string& customer) {
  const auto made = custodian::with_lock(
      client, custodian::path_of("/examples/reports/{}", customer),
      {.wait = 2s, .when_busy = custodian::Otherwise::skip}, [&](const custodian::Lease& lease) {
        std::cout << "making the report of " << customer << " with token "
                  << to_string(lease.token()) << '\n';
        return 12;
      });
  return made ? *made.value : 0;
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    const custodian::Client client{argv[1]};
    std::cout << make_report(client, "Meyer & Sons") << " pages\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
