// This must not compile: the body would never run, since with_lock() does not await the coroutine
// that the function returns.

#include <boost/asio/awaitable.hpp>

#include "custodian/locks/with_lock.hpp"

boost::asio::awaitable<void> work() { co_return; }

void mistake(const custodian::Client& client) {
  custodian::with_lock(client, "/lock", {}, [] { return work(); });
}
