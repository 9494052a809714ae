#include "async/backoff.hpp"

#include <algorithm>
#include <random>

#include "custodian/authoring/event.hpp"
#include "custodian/authoring/service.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

namespace {

/// Ends a client's pauses when it begins to close: a pause would keep the client open.
class Pauses final : public Service {
 public:
  explicit Pauses(const asio::any_io_executor&) {}

  void begin_shutdown() override {
    is_closing_ = true;
    closing_.notify_all();
  }
  [[nodiscard]] bool is_closing() const noexcept { return is_closing_; }
  [[nodiscard]] AsyncEvent& closing() noexcept { return closing_; }

 private:
  bool is_closing_ = false;
  AsyncEvent closing_;
};

}  // namespace

std::optional<std::chrono::milliseconds> pause_before(const RetryPolicy& policy, int retries_so_far,
                                                      std::chrono::milliseconds elapsed) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  const double draw = std::uniform_real_distribution<>{}(random);
  return policy.pause_before(
      {.retries_so_far = retries_so_far, .elapsed = elapsed, .random = draw});
}

// The caller awaits these coroutines, so `client` outlives them.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
asio::awaitable<void> pause_for(const Client& client, std::chrono::milliseconds duration,
                                Deadline until, CancellationPtr cancellation) {
  const asio::any_io_executor strand = client.get_executor();
  auto& pauses = client.share().use_service<Pauses>();
  // A client that closes still serves requests while its holders have time to release. Retries of
  // these pause, too, but briefly.
  constexpr std::chrono::milliseconds while_closing{50};
  const auto limited = pauses.is_closing() ? std::min(duration, while_closing) : duration;
  const Deadline end = std::min(until, Deadline{limited});
  co_await pauses.closing().wait(strand, end, cancellation);
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
asio::awaitable<void> back_off(const Client& client, int failures, Deadline until,
                               CancellationPtr cancellation) {
  const std::chrono::milliseconds of_no_account{0};
  const auto pause = pause_before(client.retry_policy().unlimited(), failures, of_no_account);
  co_await pause_for(client, *pause, until, cancellation);
}

}  // namespace custodian::recipes_detail
