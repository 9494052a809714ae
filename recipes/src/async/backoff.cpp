#include "async/backoff.hpp"

#include <algorithm>
#include <random>

#include "custodian/authoring/event.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The caller awaits this coroutine, so `client` outlives it.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
asio::awaitable<void> back_off(const Client& client, int failures, Deadline until,
                               CancellationPtr cancellation) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  const double draw = std::uniform_real_distribution<>{}(random);
  const RetryPolicy policy = client.retry_policy().unlimited();
  const auto pause = policy.pause_before({.retries_so_far = failures, .random = draw});
  const Deadline end = std::min(until, Deadline{*pause});
  const asio::any_io_executor strand = client.get_executor();
  AsyncEvent nobody_notifies;
  co_await nobody_notifies.wait(strand, end, cancellation);
}

}  // namespace custodian::recipes_detail
