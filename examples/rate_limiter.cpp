// Calls of a service that endures a hundred a second, from as many processes as there are.
//
//   custodian-example-rate_limiter 127.0.0.1:2181

#include "custodian/atomics/rate_limiter.hpp"

#include <chrono>
#include <iostream>

#include "custodian/client.hpp"

using namespace std::chrono_literals;

/// All processes name the same rate. After a quiet time, the calls of half a second may be made at
/// once.
custodian::RateLimiter calls_of(const custodian::Client& client) {
  return {client, "/examples/calls", {.permits_per_second = 100, .burst = 500ms, .chunk = 50ms}};
}

void send_all(custodian::RateLimiter& calls) {
  for (int i = 0; i < 20; ++i) {
    calls.acquire();  // throws if no server answers: then nothing is sent
    std::cout << '.' << std::flush;
  }
  std::cout << " sent\n";
}

/// Sends a request of five calls, unless it would have to wait for more than a second.
void send_if_quiet(custodian::RateLimiter& calls) {
  std::cout << (calls.try_acquire_for(5, 1s) ? "sent, too\n" : "too much to do\n");
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    const custodian::Client client{argv[1]};
    custodian::RateLimiter calls = calls_of(client);
    send_all(calls);
    send_if_quiet(calls);
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
