// Two ways out of a wait: a std::stop_token for a thread that waits, a cancellation slot for a
// handler. Whichever way an acquire ends without a lease, it leaves no node in the queue.
//
//   custodian-example-cancellation 127.0.0.1:2181

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <future>
#include <iostream>
#include <memory>
#include <semaphore>
#include <stop_token>
#include <thread>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"

namespace asio = boost::asio;

/// Lets a thread wait for the lock, and requests a stop. Returns true if the stop ended the wait.
bool stop_a_thread(custodian::InterProcessMutex& mutex) {
  // The callback shares the semaphore, since it may still run when the acquire has ended.
  const auto in_queue = std::make_shared<std::counting_semaphore<>>(0);
  const custodian::AcquireOptions options{
      .on_position = [in_queue](std::size_t, const custodian::Participant&) {
        in_queue->release();
      }};
  bool stopped = false;
  std::jthread waiter{[&](std::stop_token stop) {
    try {
      const custodian::Lease lease = mutex.acquire(options, stop);
    } catch (const custodian::Error& error) {
      stopped = error.code() == asio::error::operation_aborted;
    }
  }};
  in_queue->acquire();
  waiter.request_stop();
  waiter.join();
  return stopped;
}

/// Begins an acquire with a handler, and cancels it through the handler's slot. Returns true if the
/// cancellation ended the acquire.
bool cancel_a_handler(custodian::InterProcessMutex& mutex) {
  asio::cancellation_signal signal;
  std::promise<custodian::error_code> outcome;
  mutex.async_acquire(asio::bind_cancellation_slot(
      signal.slot(),
      [&](custodian::error_code error, const custodian::Lease&) { outcome.set_value(error); }));
  signal.emit(asio::cancellation_type::total);
  return outcome.get_future().get() == asio::error::operation_aborted;
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    const custodian::Client client{argv[1]};
    custodian::InterProcessMutex mutex{client, "/examples/cancellation"};
    const custodian::Lease holder = mutex.acquire();
    const bool stopped = stop_a_thread(mutex);
    const bool cancelled = cancel_a_handler(mutex);
    std::cout << "the thread was " << (stopped ? "stopped" : "NOT stopped") << ", the handler was "
              << (cancelled ? "cancelled" : "NOT cancelled") << '\n';
    return stopped && cancelled ? 0 : 1;
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
