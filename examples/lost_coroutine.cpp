// A coroutine that works until its work is done or its lock is lost, whichever comes first.
//
//   custodian-example-lost_coroutine 127.0.0.1:2181

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <iostream>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// Stands for work that takes an hour.
asio::awaitable<void> job(custodian::FencingToken token) {
  std::cout << "working with token " << to_string(token) << '\n' << std::flush;
  asio::steady_timer timer{co_await asio::this_coro::executor, 1h};
  co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> work_while_held(custodian::Client client) {
  using namespace asio::experimental::awaitable_operators;
  custodian::InterProcessMutex mutex{client, "/examples/job"};
  const custodian::Lease lease = co_await mutex.async_acquire(asio::use_awaitable);
  // The operation that ends first cancels the other one.
  auto either = job(lease.token()) || lease.async_wait_lost(asio::use_awaitable);
  const auto ended = co_await std::move(either);
  if (ended.index() == 0) {
    std::cout << "done\n";
  } else {
    std::cout << "stopped: " << to_string(lease.loss_reason()) << '\n';
  }
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
    asio::co_spawn(context, work_while_held(client.share()), [&](std::exception_ptr error) {
      failure = error;
      client.close();
    });
    context.run();
    if (failure) std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
