#include <boost/asio/use_awaitable.hpp>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"

boost::asio::awaitable<void> try_it(custodian::InterProcessMutex& mutex) {
  const std::chrono::milliseconds wait{200};
  if (!co_await mutex.async_try_acquire_for(wait, boost::asio::use_awaitable)) {
  }
}
