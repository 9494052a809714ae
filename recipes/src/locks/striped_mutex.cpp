#include "custodian/locks/striped_mutex.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/crc.hpp>
#include <utility>
#include <vector>

#include "acquire/contender.hpp"
#include "async/block_in_time.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/uuid.hpp"
#include "kept/kept_locks.hpp"

namespace custodian {

namespace asio = boost::asio;

std::size_t stripe_of(std::string_view key, std::size_t stripes) {
  if (stripes == 0) {
    throw Error{Errc::invalid_argument, "stripe_of", {}, "stripes: a key belongs to one of some"};
  }
  boost::crc_32_type crc;
  crc.process_bytes(key.data(), key.size());
  return crc.checksum() % stripes;
}

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace recipes_detail {

/// The common part of all acquires of one StripedMutex. Immutable.
struct Stripes {
  std::string path;
  std::vector<LockSpecPtr> specs;
};

namespace {

/// The node of a contender that is first in its queue, and excludes all others while it exists; or
/// the error instead.
using Place = Result<OwnedNode>;

/// The contender in one queue: an acquire of its own, which goes no further than the front.
struct Line {
  AcquirePtr acquire;
  bool waits = false;
  std::optional<Place> end{};
};

/// All queues that one acquire is in. Called on the strand only.
class Lines : public std::enable_shared_from_this<Lines> {
 public:
  explicit Lines(const AcquirePtr& whole)
      : whole_{whole},
        changed_{whole->client().get_executor(), std::chrono::steady_clock::time_point::max()} {}

  /// Enters a queue at its end.
  void join(const LockSpecPtr& spec) {
    const auto line = std::make_shared<Line>(Line{.acquire = part_for(spec)});
    // The raw pointers are safe: both objects live until the acquire has ended.
    line->acquire->on_waiting = [this, waiting = line.get()] {
      waiting->waits = true;
      changed_.cancel();
    };
    lines_.push_back(line);
    stand_in_line(line->acquire,
                  [lines = shared_from_this(), line](error_code error, OwnedNode node) {
                    lines->on_end(line, error ? Place{error} : Place{std::move(node)});
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
  [[nodiscard]] Line* first() const { return first_.get(); }

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

  void on_end(const std::shared_ptr<Line>& line, Place place) {
    line->end.emplace(std::move(place));
    if (line->acquire->has_queued) whole_->has_queued = true;
    if (line->acquire->somebody_ahead) whole_->somebody_ahead = true;
    if (line->acquire->nearest) whole_->nearest = std::move(line->acquire->nearest);
    if (!first_ && !line->acquire->declined) first_ = line;
    changed_.cancel();
  }

  const AcquirePtr whole_;
  std::vector<std::shared_ptr<Line>> lines_;
  std::shared_ptr<Line> first_;
  asio::steady_timer changed_;
};

/// Returns the first place that is at the front of its queue:
///
/// 1. Enter one queue after the other, beginning with a random one, until a lock is free.
/// 2. If none is, wait in all queues.
/// 3. Give up the places in the other queues.
asio::awaitable<Place> stand_in_lines(AcquirePtr acquire, StripesPtr stripes) {
  const auto lines = std::make_shared<Lines>(acquire);
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
  Place place = co_await stand_in_lines(acquire, stripes);
  if (!place) co_return place.error();
  co_return co_await take(acquire, std::move(*place));
}

/// The index of the stripe to which a lease belongs.
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

StripesPtr make_stripes(const Client& client, const std::string& path, std::size_t stripes,
                        const LockOptions& options) {
  check_path(client.core(), "StripedMutex", path);
  if (stripes == 0 || stripes > StripedMutex::most_stripes) {
    throw Error{Errc::invalid_argument, "StripedMutex", path,
                "stripes: between 1 and " + std::to_string(StripedMutex::most_stripes) + ", not " +
                    std::to_string(stripes)};
  }
  Stripes all{.path = path, .specs = {}};
  for (std::size_t i = 0; i < stripes; ++i) {
    all.specs.push_back(make_kept_lock_spec(client, "StripedMutex", mutex_rule,
                                            ContenderKind::exclusive, join(path, std::to_string(i)),
                                            options, ObservedAs{"StripedMutex", path}));
  }
  return std::make_shared<const Stripes>(std::move(all));
}

}  // namespace

void start_acquire_any(CorePtr, CancellationPtr cancellation, StripesPtr stripes, WaitLimit limit,
                       AcquireOptions options, Handler<StripeLease> handler) {
  start_acquire_any_within(stripes, std::move(cancellation), limit.from_now(), std::move(options),
                           std::move(handler));
}

}  // namespace recipes_detail

StripedMutex::StripedMutex(const Client& client, const std::string& path, std::size_t stripes,
                           const LockOptions& options)
    : core_{client.core()}, stripes_{recipes_detail::make_stripes(client, path, stripes, options)} {
  for (const auto& spec : stripes_->specs) mutexes_.emplace_back(client, spec->path, options);
}

StripedMutex::StripedMutex(StripedMutex&&) noexcept = default;

StripedMutex& StripedMutex::operator=(StripedMutex&&) noexcept = default;

StripedMutex::~StripedMutex() = default;

const std::string& StripedMutex::path() const noexcept { return stripes_->path; }

std::size_t StripedMutex::stripe_of(std::string_view key) const {
  return custodian::stripe_of(key, size());
}

InterProcessMutex& StripedMutex::stripe(std::size_t index) {
  if (index < size()) return mutexes_[index];
  throw Error{Errc::invalid_argument, "stripe", path(),
              "index: there are " + std::to_string(size()) + ", from 0 on, and no " +
                  std::to_string(index)};
}

StripeLease StripedMutex::acquire_any(AcquireOptions options, std::stop_token stop) {
  const auto held = [](const InterProcessMutex& mutex) { return mutex.hold_count() > 0; };
  if (std::ranges::all_of(mutexes_, held)) {
    throw Error{make_error_code(boost::system::errc::resource_deadlock_would_occur), "acquire_any",
                path(), "this thread holds all the stripes itself"};
  }
  return acquire_within("acquire_any", {}, std::move(options), std::move(stop));
}

StripeLease StripedMutex::try_acquire_any(AcquireOptions options) {
  return acquire_within("try_acquire_any", {.try_once = true}, std::move(options), {});
}

StripeLease StripedMutex::try_acquire_any_until(Deadline deadline, AcquireOptions options,
                                                std::stop_token stop) {
  return acquire_within("try_acquire_any_until", {.deadline = deadline}, std::move(options),
                        std::move(stop));
}

StripeLease StripedMutex::acquire_within(std::string_view operation, const WaitLimit& limit,
                                         AcquireOptions options, std::stop_token stop) const {
  return recipes_detail::block_in_time<&recipes_detail::start_acquire_any, StripeLease>(
      stripes_->specs.front()->client, operation, path(), stripes_, limit, std::move(options),
      std::move(stop));
}

}  // namespace custodian
