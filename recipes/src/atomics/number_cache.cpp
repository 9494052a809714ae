#include "atomics/number_cache.hpp"

#include <boost/asio/error.hpp>
#include <utility>

#include "custodian/authoring/spawn.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

std::optional<std::int64_t> NumberCache::take() {
  const auto number = take_left();
  begin_fetch();
  return number;
}

std::optional<std::int64_t> NumberCache::take_if_any() {
  const auto number = take_left();
  if (number) begin_fetch();
  return number;
}

std::optional<std::int64_t> NumberCache::take_left() {
  const std::lock_guard lock{mutex_};
  return stock_.take();
}

std::uint64_t NumberCache::fetches() {
  const std::lock_guard lock{mutex_};
  return fetches_;
}

void NumberCache::begin_fetch() {
  {
    const std::lock_guard lock{mutex_};
    if (!stock_.is_low() || std::exchange(is_fetching_, true)) return;
    ++fetches_;
  }
  spawn(client().core(), "fetching numbers of " + path(), fetch(shared_from_this()),
        [self = shared_from_this()](error_code thrown) {
          if (thrown) self->end_fetch(thrown);
        });
}

asio::awaitable<void> NumberCache::fetch(NumberCachePtr self) {
  const AtomicChange<std::int64_t> add{.kind = AtomicChangeKind::add,
                                       .operand = self->stock_.chunk()};
  const CorePtr core = self->client().core();
  const CancellationPtr none;
  const OperationOptions as_usual;
  for (;;) {
    const auto [error, done] =
        co_await await<&start_atomic_change<std::int64_t>, Updated<std::int64_t>>(
            core, none, self->node_, add, as_usual);
    // Numbers that a doubtful fetch may have taken are lost: they need only be unique, not gapless.
    if (error == ErrorCondition::outcome_unknown && self->waiters_ > 0) continue;
    if (!error) {
      const std::lock_guard lock{self->mutex_};
      self->stock_.add(done.before.value);
    }
    self->end_fetch(error);
    co_return;
  }
}

void NumberCache::end_fetch(error_code error) {
  const std::uint64_t ended = fetches();
  if (error) {
    last_failed_ = ended;
    last_failure_ = error;
  }
  {
    const std::lock_guard lock{mutex_};
    is_fetching_ = false;
  }
  fetched_.notify_all();
}

namespace {

/// Counts a waiter while it waits.
class Counted {
 public:
  explicit Counted(int& count) : count_{count} { ++count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --count_; }

 private:
  int& count_;
};

}  // namespace

asio::awaitable<Result<std::int64_t>> NumberCache::wait(NumberCachePtr self,
                                                        CancellationPtr cancellation,
                                                        OperationOptions options,
                                                        std::uint64_t fetches) {
  const asio::any_io_executor strand = self->client().get_executor();
  const Counted waiting{self->waiters_};
  for (;;) {
    if (cancellation && cancellation->requested()) {
      co_return failed<std::int64_t>(asio::error::operation_aborted);
    }
    if (const error_code unusable = self->client().unusable()) {
      co_return failed<std::int64_t>(unusable);
    }
    // A fetch has only the time of one operation, and this caller may have more: it waits for the
    // next fetch. After any other failure this caller fails, and the next caller begins the next
    // fetch.
    const bool has_failed =
        self->last_failed_ > fetches && self->last_failure_ != Errc::deadline_exceeded;
    const bool is_over = has_failed || options.deadline.passed();
    // Without a number in memory take() begins a fetch, unless one is under way.
    if (const auto number = is_over ? self->take_left() : self->take()) co_return *number;
    if (has_failed) co_return failed<std::int64_t>(self->last_failure_);
    if (is_over) co_return failed<std::int64_t>(Errc::deadline_exceeded);
    co_await self->fetched_.wait(strand, options.deadline, cancellation);
  }
}

}  // namespace custodian::recipes_detail
