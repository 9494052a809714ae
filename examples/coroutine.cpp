// A lock in a coroutine, on the program's own io_context. No thread owns the lease: it is an
// object, and the lock is released with it.
//
//   custodian-example-coroutine 127.0.0.1:2181

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <iostream>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"

namespace asio = boost::asio;

asio::awaitable<void> print_alone(custodian::Client client) {
  custodian::InterProcessMutex mutex{client, "/examples/printer"};
  const custodian::Lease lease = co_await mutex.async_acquire(asio::use_awaitable);
  // Only one coroutine at a time gets here, of all processes that use this path on these servers.
  std::cout << "printing with token " << to_string(lease.token()) << '\n';
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    asio::io_context context;
    custodian::Client client{context.get_executor(), {.servers = argv[1]}};
    std::exception_ptr failure;
    asio::co_spawn(context, print_alone(client.share()), [&](std::exception_ptr error) {
      failure = error;
      client.close();  // now context.run() returns: nothing is left to do
    });
    context.run();
    if (failure) std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
