// Work that stops when its lock is lost, and whose writes fail after the loss.
//
//   custodian-example-lost 127.0.0.1:2181

#include <chrono>
#include <iostream>
#include <stop_token>
#include <thread>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"

namespace {

/// Counts in a node of ZooKeeper, until a stop is requested through `lost`.
void count(custodian::Client& client, const custodian::Lease& lease, const std::stop_token& lost) {
  for (int number = 1; !lost.stop_requested();) {
    try {
      // The write succeeds only while the lock is held, even if this process has just slept for an
      // hour. The write waits for a connection for about as long as the lease lasts.
      client.commit({lease.check(), custodian::set("/examples/register", std::to_string(number))},
                    {.deadline = lease.remaining()});
      ++number;
    } catch (const custodian::Error& error) {
      // If the servers are out of reach, the lock may still be held, so the write is tried again.
      // Writing the same number twice does no harm.
      if (error.code() != custodian::ErrorCondition::retryable &&
          error.code() != custodian::ErrorCondition::outcome_unknown) {
        throw;
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    custodian::Client client{argv[1]};
    custodian::InterProcessMutex mutex{client, "/examples/counter"};
    const custodian::Lease lease = mutex.acquire();
    if (!client.exists("/examples/register")) client.create("/examples/register");
    std::cout << "counting under " << lease.node() << '\n' << std::flush;
    try {
      count(client, lease, lease.lost());
    } catch (const custodian::Error& error) {
      // The check in the transaction, or the lease clock, may find the loss before the stop is
      // requested through `lost`.
      const bool node_is_gone =
          error.code() == custodian::ServerErrc::no_node && error.path() == lease.node();
      if (!node_is_gone && lease.state() != custodian::LeaseState::lost) throw;
    }
    std::cout << "stopped, the lock is lost\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
