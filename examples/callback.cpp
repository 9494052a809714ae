// A lock with a callback and without exceptions: the acquire waits for two seconds at most; if it
// fails, the program shows the contender that is in the way.
//
//   custodian-example-callback 127.0.0.1:2181

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <iostream>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    // The client has threads of its own. The callback runs on this thread, in context.run();
    // without bind_executor it would run on the client's callback thread.
    custodian::Client client{argv[1]};
    asio::io_context context;
    custodian::InterProcessMutex mutex{client, "/examples/printer"};

    int status = 1;
    const auto on_acquired = [&](custodian::error_code error, custodian::AcquireResult result) {
      if (error) {
        std::cerr << "no lock: " << error.message() << '\n';
      } else if (!result) {  // a timeout is a value, not an error
        std::cerr << "too late; before us: "
                  << (result.blocked_by ? result.blocked_by->identity : "unknown") << '\n';
      } else {
        std::cout << "printing with token " << to_string(result.lease.token()) << '\n';
        status = 0;
      }  // the lease is destroyed here, which releases the lock
    };
    mutex.async_try_acquire_for(2s, asio::bind_executor(context, on_acquired));
    context.run();
    return status;
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
