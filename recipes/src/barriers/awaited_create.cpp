#include "barriers/awaited_create.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <memory>
#include <utility>

#include "custodian/authoring/operations.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

/// The cancellation of a create. If the create may have been sent when the caller gives up, it is
/// cancelled one operation's time later; if there was no connection to send it by, at once. Strand
/// only.
class Reprieve {
 public:
  Reprieve(const Client& client, const asio::any_io_executor& strand, CancellationPtr callers)
      : client_{client.share()},
        callers_{std::move(callers)},
        timer_{strand},
        was_connected_{is_connected(client_.connection_state())},
        connection_{detail::connection_number(*client_.core())} {
    if (callers_) callers_->on_request(this, [this] { begin(); });
  }
  Reprieve(const Reprieve&) = delete;
  Reprieve& operator=(const Reprieve&) = delete;
  ~Reprieve() {
    if (callers_) callers_->forget(this);
  }

  [[nodiscard]] const CancellationPtr& cancellation() const noexcept { return cancellation_; }
  /// Whether the create was cancelled after that time.
  [[nodiscard]] bool is_over() const noexcept { return *passed_; }

 private:
  void begin() {
    const CorePtr core = client_.core();
    const bool was_sent = was_connected_ || detail::connection_number(*core) != connection_;
    if (!was_sent) return cancellation_->request();
    timer_.expires_at(client_.deadline_or_default(Deadline{}).time_point());
    // The handler may run after this object is destroyed.
    timer_.async_wait([cancellation = cancellation_, passed = passed_](error_code stopped) {
      if (stopped) return;
      *passed = true;
      cancellation->request();
    });
  }

  const Client client_;
  const CancellationPtr callers_;
  const CancellationPtr cancellation_ = std::make_shared<Cancellation>(client_.core());
  const std::shared_ptr<bool> passed_ = std::make_shared<bool>(false);
  asio::steady_timer timer_;
  const bool was_connected_;
  const std::uint64_t connection_;
};

}  // namespace

asio::awaitable<Result<Created>> awaited_create(Client client, CancellationPtr callers,
                                                std::string path, Parents parents) {
  if (callers && callers->requested()) co_return error_code{asio::error::operation_aborted};
  const auto strand = co_await asio::this_coro::executor;
  const CorePtr& core = client.core();
  const Reprieve reprieve{client, strand, std::move(callers)};
  const CancellationPtr& cancellation = reprieve.cancellation();
  CreateOptions options{.mode = CreateMode::ephemeral,
                        .protection = Protection::by_unique_name,
                        .parents = parents,
                        .deadline = Deadline::never(),
                        .retry = client.retry_policy().unlimited()};
  std::string identity = client.identity();
  auto [error, created] = co_await await<&start_create, Created>(
      core, cancellation, path, std::move(identity), std::move(options));
  const bool is_unknown = error == asio::error::operation_aborted && reprieve.is_over();
  if (is_unknown) co_return Errc::deadline_exceeded_outcome_unknown;
  if (error) co_return error;
  co_return std::move(created);
}

}  // namespace custodian::recipes_detail
