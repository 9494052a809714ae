// Five licences for all machines: some jobs need one of them, some several.
//
//   custodian-example-semaphore 127.0.0.1:2181

#include <chrono>
#include <iostream>
#include <utility>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"

void solve(custodian::InterProcessSemaphore& licences) {
  const custodian::Lease licence = licences.acquire();
  std::cout << "solving, with one licence of five\n";
}

void solve_in_parallel(custodian::InterProcessSemaphore& licences) {
  // The call acquires all three licences or none: nobody waits for the third while holding two.
  auto result = licences.try_acquire_for(3, std::chrono::seconds{10});
  if (!result) {
    std::cout << "not now: " << result.explain() << '\n';
    return;
  }
  std::vector<custodian::Lease> three = std::move(result.permits);
  std::cout << "solving, with " << three.size() << " licences of five\n";
  three.pop_back();
  std::cout << "the rest takes only " << three.size() << '\n';
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    const custodian::Client client{argv[1]};
    custodian::InterProcessSemaphore licences{client, "/examples/licences", 5};
    solve(licences);
    solve_in_parallel(licences);
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
