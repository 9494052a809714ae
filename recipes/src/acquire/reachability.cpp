#include "acquire/reachability.hpp"

#include <boost/asio/steady_timer.hpp>

namespace custodian::recipes_detail {

namespace asio = boost::asio;

namespace {

void give_up(Acquire& acquire) {
  acquire.out_of_reach = true;
  acquire.give_up->request();
}

}  // namespace

asio::awaitable<void> watch_reachability(AcquirePtr acquire, CancellationPtr over) {
  const Client& client = acquire->client();
  const auto core = client.core();
  const std::chrono::nanoseconds limit = *acquire->wait_limit.max_unreachable;

  // Two limits: the acquire enters its queue within `limit`, and is never without a connection for
  // longer. The timer's handler does not own the acquire, and the timer ends with this coroutine.
  asio::steady_timer queued_by{client.get_executor(), Deadline{limit}.time_point()};
  queued_by.async_wait([weak = std::weak_ptr{acquire}](error_code cancelled) {
    const auto alive = weak.lock();
    if (alive && !cancelled && !alive->has_queued) give_up(*alive);
  });
  while (!over->requested()) {
    const ConnectionState known = client.connection_state();
    if (is_connected(known)) {
      co_await await<&start_wait_connection_state, ConnectionState>(core, over, known);
      continue;
    }
    const OperationOptions in_time{Deadline{limit}, acquire->retry()};
    const auto [failure] = co_await await<&start_wait_connected>(core, over, in_time);
    if (failure && !over->requested()) give_up(*acquire);
    if (failure) co_return;
  }
}

}  // namespace custodian::recipes_detail
