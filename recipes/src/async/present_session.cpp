#include "async/present_session.hpp"

#include "custodian/authoring/operations.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The caller awaits this coroutine, so `client` outlives it.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
asio::awaitable<Result<std::int64_t>> present_session(const Client& client,
                                                      CancellationPtr cancellation,
                                                      OperationOptions options) {
  if (!is_connected(client.connection_state())) {
    const auto [error] =
        co_await await<&start_wait_connected>(client.core(), cancellation, options);
    if (error) co_return failed<std::int64_t>(error);
  }
  co_return client.session().id;
}

}  // namespace custodian::recipes_detail
