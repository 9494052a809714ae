#include "custodian/leader/leader_observer.hpp"

#include <algorithm>
#include <utility>

#include "custodian/authoring/bound_to_context.hpp"
#include "custodian/authoring/follow.hpp"
#include "custodian/authoring/spawn.hpp"
#include "leader/leader_lookup.hpp"

namespace custodian {

namespace asio = boost::asio;

namespace recipes_detail {

/// Remembers the leader that was reported to the user. Called on the strand only, except client()
/// and path().
class Observed {
 public:
  Observed(Client client, std::string path) : client_{std::move(client)}, path_{std::move(path)} {}

  [[nodiscard]] const Client& client() const noexcept { return client_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Whether the snapshot is news. A queue grows only at its end, so a leader earlier than a
  /// reported one comes from a server that lags behind, and is no news.
  [[nodiscard]] bool is_news(const LeaderSnapshot& seen) const {
    if (!seen.leader) return told_ != nobody;
    if (told_ == seen.leader->token.value) return is_called_otherwise(seen);
    return seen.leader->token.value > latest_;
  }

  void tell(const LeaderSnapshot& seen) {
    told_ = seen.leader ? seen.leader->token.value : nobody;
    latest_ = std::max(latest_, *told_);
    changed_by_ = seen.changed_by;
    identity_ = seen.leader ? seen.leader->identity : std::string{};
  }

  /// Marks, while it exists, that a caller waits. Converts to false if another caller waits
  /// already.
  class Waiting {
   public:
    explicit Waiting(Observed& observed)
        : observed_{std::exchange(observed.has_waiter_, true) ? nullptr : &observed} {}
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() {
      if (observed_ != nullptr) observed_->has_waiter_ = false;
    }
    [[nodiscard]] explicit operator bool() const noexcept { return observed_ != nullptr; }

   private:
    Observed* observed_;
  };

 private:
  /// Whether the same leader has a new identity. An older identity comes from a server that lags
  /// behind; a request to release is no identity.
  [[nodiscard]] bool is_called_otherwise(const LeaderSnapshot& seen) const {
    return seen.changed_by > changed_by_ && seen.leader->identity != identity_ &&
           seen.leader->identity != revoke_message;
  }

  static constexpr std::int64_t nobody = 0;

  const Client client_;
  const std::string path_;
  /// The token of the leader that was reported last, or `nobody`; empty before the first report.
  std::optional<std::int64_t> told_;
  std::int64_t latest_ = nobody;  ///< the greatest token that was reported
  // These two belong to the leader that was reported last.
  std::int64_t changed_by_ = 0;
  std::string identity_;
  bool has_waiter_ = false;
};

namespace {

asio::awaitable<Result<Watched<LeaderSnapshot>>> read_leader(ObservedPtr observed,
                                                             CancellationPtr cancellation,
                                                             OperationOptions options) {
  Client client = observed->client().share();
  std::string path = observed->path();
  Result<LeaderSnapshot> seen =
      co_await find_leader(std::move(client), std::move(cancellation), std::move(path),
                           election_rule, options, Watching::yes);
  if (!seen) co_return seen.error();
  Watch watch = std::move(seen->watch);
  co_return Watched<LeaderSnapshot>{std::move(*seen), std::move(watch)};
}

asio::awaitable<Result<std::optional<Participant>>> next(ObservedPtr observed,
                                                         CancellationPtr cancellation) {
  const Observed::Waiting waiting{*observed};
  if (!waiting) co_return Errc::invalid_argument;
  const OperationOptions patient{Deadline::never(), observed->client().retry_policy().unlimited()};
  const auto read = [&]() -> asio::awaitable<Result<Watched<LeaderSnapshot>>> {
    return read_leader(observed, cancellation, patient);
  };
  const auto is_news = [&](const LeaderSnapshot& seen) { return observed->is_news(seen); };
  Watch none;
  Result<Watched<LeaderSnapshot>> seen = co_await next_news<LeaderSnapshot>(
      observed->client().core(), cancellation, std::move(none), read, is_news);
  if (!seen) co_return seen.error();
  observed->tell(seen->value);
  co_return std::move(seen->value.leader);
}

}  // namespace

void start_observe(CorePtr, CancellationPtr cancellation, ObservedPtr observed,
                   OperationOptions options, Handler<std::optional<Participant>> handler) {
  start_find_leader(observed->client(), std::move(cancellation), observed->path(), election_rule,
                    options, std::move(handler));
}

void start_next_leader(CorePtr, CancellationPtr cancellation, ObservedPtr observed,
                       Handler<std::optional<Participant>> handler) {
  Handler<std::optional<Participant>> bound =
      bound_to_context(observed->client(), std::move(handler));
  spawn(observed->client().core(), "observing " + observed->path(),
        next(observed, std::move(cancellation)), std::move(bound));
}

}  // namespace recipes_detail

LeaderObserver::LeaderObserver(const Client& client, std::string path) : core_{client.core()} {
  check_path(client.core(), "LeaderObserver", path);
  observed_ = std::make_shared<recipes_detail::Observed>(client.share(), std::move(path));
}

std::optional<Participant> LeaderObserver::leader(OperationOptions options) const {
  return block_in_time_or_throw<&recipes_detail::start_observe, std::optional<Participant>>(
      core_, "LeaderObserver::leader", observed_->path(), {}, {options.deadline}, observed_,
      options);
}

std::optional<Participant> LeaderObserver::next(std::stop_token stop) {
  return block_or_throw<&recipes_detail::start_next_leader, std::optional<Participant>>(
      core_, "LeaderObserver::next", observed_->path(), std::move(stop), observed_);
}

}  // namespace custodian
