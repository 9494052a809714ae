#include "locks/stripes.hpp"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "acquire/contender.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/uuid.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

/// The node of a contender that is first in its queue, and excludes all others while it exists; or
/// the error instead.
using StripePlace = Result<OwnedNode>;

/// The contender in one queue: an acquire of its own, which goes no further than the front.
struct StripeLine {
  AcquirePtr acquire;
  bool waits = false;
  std::optional<StripePlace> end{};
};

/// All queues that one acquire is in. Called on the strand only.
class StripeLines : public std::enable_shared_from_this<StripeLines> {
 public:
  explicit StripeLines(const AcquirePtr& whole)
      : whole_{whole},
        changed_{whole->client().get_executor(), std::chrono::steady_clock::time_point::max()} {}

  /// Enters a queue at its end.
  void join(const LockSpecPtr& spec) {
    const auto line = std::make_shared<StripeLine>(StripeLine{.acquire = part_for(spec)});
    // The raw pointers are safe: both objects live until the acquire has ended.
    line->acquire->on_waiting = [this, waiting = line.get()] {
      waiting->waits = true;
      changed_.cancel();
    };
    lines_.push_back(line);
    stand_in_line(line->acquire,
                  [lines = shared_from_this(), line](error_code error, OwnedNode node) {
                    lines->on_end(line, error ? StripePlace{error} : StripePlace{std::move(node)});
                  });
  }

  /// Gives up all places that are not at the front.
  void leave() {
    for (const auto& line : lines_) line->acquire->give_up->request();
  }

  /// Whether the queue entered last has been judged: the acquire has ended there, or waits.
  [[nodiscard]] bool knows() const { return lines_.back()->waits || lines_.back()->end; }
  /// Whether a place decides the acquire: it is at the front, or has an error.
  [[nodiscard]] bool decided() const { return first_ != nullptr; }
  [[nodiscard]] bool ended() const {
    return std::ranges::all_of(lines_, [](const auto& line) { return line->end.has_value(); });
  }
  [[nodiscard]] StripeLine* first() const { return first_.get(); }

  asio::awaitable<void> change() {
    co_await changed_.async_wait(asio::as_tuple(asio::use_awaitable));
  }

 private:
  /// An acquire for one queue, with the limits of the whole acquire, which alone has a timer.
  [[nodiscard]] AcquirePtr part_for(const LockSpecPtr& spec) const {
    return std::make_shared<Acquire>(
        Acquire{.spec = spec,
                .wait_limit = whole_->wait_limit,
                .options = whole_->options,
                .attempt = {},
                .give_up = std::make_shared<Cancellation>(whole_->client().core())});
  }

  void on_end(const std::shared_ptr<StripeLine>& line, StripePlace place) {
    line->end.emplace(std::move(place));
    if (line->acquire->has_queued) whole_->has_queued = true;
    if (line->acquire->somebody_ahead) whole_->somebody_ahead = true;
    if (line->acquire->nearest) whole_->nearest = std::move(line->acquire->nearest);
    if (!first_ && !line->acquire->declined) first_ = line;
    changed_.cancel();
  }

  const AcquirePtr whole_;
  std::vector<std::shared_ptr<StripeLine>> lines_;
  std::shared_ptr<StripeLine> first_;
  asio::steady_timer changed_;
};

/// Returns the first place that is at the front of its queue:
///
/// 1. Enter one queue after the other, beginning with a random one, until a lock is free.
/// 2. If no lock is free, wait in all queues.
/// 3. Give up the places in the other queues.
asio::awaitable<StripePlace> stand_in_lines(AcquirePtr acquire, StripesPtr stripes) {
  const auto lines = std::make_shared<StripeLines>(acquire);
  const auto leave = [part = std::weak_ptr{lines}] {
    if (const auto all = part.lock()) all->leave();
  };
  acquire->give_up->on_request(lines.get(), leave);

  const std::size_t size = stripes->specs.size();
  const std::size_t start = stripe_of(make_uuid(), size);
  for (std::size_t i = 0; i < size && !lines->decided(); ++i) {
    if (acquire->give_up->requested()) break;
    lines->join(stripes->specs[(start + i) % size]);
    while (!lines->decided() && !lines->knows()) co_await lines->change();
  }
  // No lock was free, so the acquire waits in all queues.
  while (!lines->decided() && !lines->ended()) co_await lines->change();
  lines->leave();
  while (!lines->ended()) co_await lines->change();
  acquire->give_up->forget(lines.get());

  if (lines->first() != nullptr) co_return std::move(*lines->first()->end);
  if (acquire->give_up->requested()) co_return error_code{asio::error::operation_aborted};
  co_return decline(*acquire);
}

asio::awaitable<Result<Leases>> take_any(AcquirePtr acquire, StripesPtr stripes) {
  StripePlace place = co_await stand_in_lines(acquire, stripes);
  if (!place) co_return place.error();
  co_return co_await take(acquire, std::move(*place));
}

}  // namespace

std::size_t index_of(const Stripes& stripes, const Lease& lease) {
  const std::string_view path = parent_of(lease.node());
  const auto found = std::ranges::find_if(
      stripes.specs, [&](const LockSpecPtr& spec) { return spec->path == path; });
  return static_cast<std::size_t>(found - stripes.specs.begin());
}

void start_acquire_any_within(const StripesPtr& stripes, CancellationPtr cancellation,
                              WaitLimit wait_limit, AcquireOptions options,
                              Handler<StripeLease> handler) {
  start(std::make_shared<Acquire>(Acquire{.spec = stripes->specs.front(),
                                          .wait_limit = wait_limit,
                                          .options = std::move(options),
                                          .attempt =
                                              [stripes](const AcquirePtr& acquire) {
                                                attempt_by(acquire, take_any(acquire, stripes));
                                              }}),
        std::move(cancellation),
        [stripes, handler = std::move(handler)](error_code error, Acquired acquired) mutable {
          StripeLease result{.blocked_by = std::move(acquired.blocked_by),
                             .reason = acquired.reason};
          if (!acquired.leases.empty()) {
            result.lease = std::move(acquired.leases.front());
            result.index = index_of(*stripes, result.lease);
          }
          std::move(handler)(error, std::move(result));
        });
}

}  // namespace custodian::recipes_detail
