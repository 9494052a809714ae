#include <boost/asio/use_awaitable.hpp>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"

boost::asio::awaitable<void> try_it(custodian::InterProcessMutex& mutex) {
  co_await mutex.async_acquire(boost::asio::use_awaitable);
}
