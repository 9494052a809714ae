// A coroutine that runs a function under a lock, in a service that answers a request: the item is
// sold, busy, or ZooKeeper is away.
//
//   custodian-example-with_lock_coroutine 127.0.0.1:2181

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <exception>
#include <iostream>
#include <string>

#include "custodian/client.hpp"
#include "custodian/locks/path_of.hpp"
#include "custodian/locks/with_lock.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;

// co_with_lock() is awaited in the scope of `take_one`, so `take_one` outlives the call.
// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters,cppcoreguidelines-avoid-capturing-lambda-coroutines)
asio::awaitable<std::string> sell(custodian::Client client, std::string item) {
  const std::string path = custodian::path_of("/examples/stock/{}", item);
  const custodian::WithLockOptions options{.wait = 5s, .when_busy = custodian::Otherwise::skip};
  const auto take_one = [&item](const custodian::Lease& lease) -> asio::awaitable<std::string> {
    // Only one coroutine at a time gets here, of all processes that use this path on these servers.
    co_return "sold a " + item + " with token " + to_string(lease.token());
  };
  try {
    const auto call = co_await custodian::co_with_lock(client, path, options, take_one);
    co_return call ? *call.value : "busy: somebody else sells a " + item;
  } catch (const boost::system::system_error& error) {
    if (error.code() != custodian::ErrorCondition::retryable) throw;
    co_return "away: no ZooKeeper server answers";
  }
}
// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters,cppcoreguidelines-avoid-capturing-lambda-coroutines)

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    asio::io_context context;
    custodian::Client client{context.get_executor(), {.servers = argv[1]}};
    std::exception_ptr failure;
    const auto tell = [&](std::exception_ptr error, const std::string& answer) {
      failure = error;
      std::cout << answer << '\n';
      client.close();  // now context.run() returns: nothing is left to do
    };
    asio::co_spawn(context, sell(client.share(), "lamp"), tell);
    context.run();
    if (failure) std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
