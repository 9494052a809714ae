#include "atomics/permit_source.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <utility>
#include <vector>

#include "atomics/rate_ledger.hpp"
#include "atomics/update.hpp"
#include "custodian/authoring/service.hpp"
#include "custodian/authoring/spawn.hpp"

// A call waits until it is the first in the line of its process. Then it takes its permits out of
// the stock (a fetch fills the stock first if there are not enough), leaves the line, and waits
// until its last permit is due.
//
// A call with a limit takes no permits that are due too late for it: its process may end soon, and
// the permits would be lost. When permits are due is known only after a write. So the fetch takes
// permits at once if, by the write before, they are due in time. Otherwise it writes an entry that
// takes nothing, and the call asks again if that entry shows that the permits are due in time.

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

/// All sources of a client, whose waits end when the client closes.
class PermitSources final : public Service {
 public:
  explicit PermitSources(const asio::any_io_executor&) {}

  void add(const PermitSourcePtr& source) {
    std::erase_if(sources_, [](const auto& each) { return each.expired(); });
    sources_.push_back(source);
  }
  void begin_shutdown() override {
    for (const auto& each : sources_) {
      if (const PermitSourcePtr source = each.lock()) source->end_waits();
    }
  }

 private:
  std::vector<std::weak_ptr<PermitSource>> sources_;
};

constexpr std::chrono::nanoseconds nothing{0};

/// How many permits are worth this time; at least one.
std::int64_t permits_of(std::chrono::nanoseconds time, std::chrono::nanoseconds interval) {
  return std::max<std::int64_t>(1, time / interval);
}

}  // namespace

/// A call's place in the line. Its destructor leaves the line.
class PermitSource::Place {
 public:
  explicit Place(PermitSource& source)
      : source_{source}, place_{source.line_.insert(source.line_.end(), this)} {}
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    source_.line_.erase(place_);
    source_.moved_.notify_all();
  }
  [[nodiscard]] bool is_first() const { return source_.line_.front() == this; }

 private:
  PermitSource& source_;
  const std::list<const Place*>::iterator place_;
};

PermitSource::PermitSource(AtomicNodePtr node, RateLimit limit, std::chrono::nanoseconds interval)
    : node_{std::move(node)},
      burst_{limit.burst},
      interval_{interval},
      chunk_{permits_of(limit.chunk, interval)},
      stock_{interval} {}

void PermitSource::enroll() {
  if (!std::exchange(is_enrolled_, true)) {
    client().share().use_service<PermitSources>().add(shared_from_this());
  }
}

void PermitSource::end_waits() {
  moved_.notify_all();
  closing_.notify_all();
}

asio::awaitable<Result<bool>> PermitSource::acquire(PermitSourcePtr self,
                                                    CancellationPtr cancellation,
                                                    std::int64_t permits, Patience patience) {
  const asio::any_io_executor strand = self->client().get_executor();
  const std::uint64_t fetches = self->fetches_;
  const bool only_memory = patience.kind == Patience::Kind::limited && patience.limit.passed();
  self->enroll();
  auto place = std::make_unique<Place>(*self);
  PermitStock::Taken taken;
  for (;;) {
    if (cancellation && cancellation->requested()) {
      co_return failed<bool>(asio::error::operation_aborted);
    }
    if (const error_code unusable = self->client().unusable()) co_return failed<bool>(unusable);
    const Deadline in_time = patience.kind == Patience::Kind::none
                                 ? Deadline{std::chrono::steady_clock::now()}
                                 : patience.limit;
    if (place->is_first()) {
      if (const auto due = self->stock_.due(permits)) {
        if (*due > in_time.time_point()) co_return false;
        taken = self->stock_.take(permits);
        break;
      }
      if (self->are_known_to_be_late(permits, in_time)) co_return false;
    }
    if (only_memory) co_return false;
    // A fetch that began before this call may have failed by the deadline of an earlier call.
    if (self->last_failed_ > fetches) co_return failed<bool>(self->last_failure_);
    if (patience.limit.passed()) co_return failed<bool>(Errc::deadline_exceeded);
    if (place->is_first()) self->fetch(permits, in_time);
    co_await self->moved_.wait(strand, patience.limit, cancellation);
  }
  place.reset();
  // Fetches ahead, so that the next calls need not wait for the servers.
  if (self->stock_.count() < self->chunk_ / 4) self->fetch(0, Deadline::never());
  const error_code ended = co_await wait_until_due(self, cancellation, std::move(taken));
  if (ended) co_return failed<bool>(ended);
  co_return true;
}

asio::awaitable<error_code> PermitSource::wait_until_due(PermitSourcePtr self,
                                                         CancellationPtr cancellation,
                                                         PermitStock::Taken taken) {
  const asio::any_io_executor strand = self->client().get_executor();
  const Deadline due{taken.due};
  while (!due.passed()) {
    error_code error = self->client().unusable();
    if (cancellation && cancellation->requested()) error = asio::error::operation_aborted;
    if (error) {
      self->stock_.give_back(taken);
      self->moved_.notify_all();
      co_return error;
    }
    co_await self->closing_.wait(strand, due, cancellation);
  }
  co_return error_code{};
}

void PermitSource::fetch(std::int64_t permits, Deadline in_time) {
  if (std::exchange(is_fetching_, true)) return;
  ++fetches_;
  const Wish wish{.permits = std::max(chunk_, permits - stock_.count()),
                  .in_time = in_time,
                  .behind = behind_the_first(permits)};
  spawn(client().core(), "taking permits of " + path(), take_chunk(shared_from_this(), wish),
        [self = shared_from_this()](error_code thrown) {
          if (thrown) self->end_fetch(thrown);
        });
}

void PermitSource::learn(PermitStock::Time next_due) {
  // Relied on only briefly: the node may be deleted, or the leader's clock may be set.
  constexpr std::chrono::seconds brief{1};
  next_due_ = next_due;
  known_until_ = std::chrono::steady_clock::now() + brief;
}

bool PermitSource::are_known_to_be_late(std::int64_t permits, Deadline in_time) const {
  return std::chrono::steady_clock::now() < known_until_ &&
         next_due_ + behind_the_first(permits) > in_time.time_point();
}

asio::awaitable<void> PermitSource::take_chunk(PermitSourcePtr self, Wish wish) {
  const std::chrono::nanoseconds cost = wish.permits * self->interval_;
  const auto are_due = [wish](std::chrono::nanoseconds credit) {
    return is_due_within(wish.in_time.remaining(), credit, wish.behind);
  };
  for (;;) {
    const auto entry = std::make_shared<RateEntry>();
    const auto compute = [entry, cost, are_due, burst = self->burst_](
                             const Stored& now) -> Result<std::optional<std::string>> {
      std::optional<RateEntry> next = next_entry(now, cost, burst);
      if (!next) return Errc::malformed_data;
      if (!are_due(next->credit)) next->cost = nothing;
      *entry = *next;
      return std::optional{encode(*next)};
    };
    UpdateJob job{.node = self->node_,
                  .options = {.deadline = self->client().deadline_or_default({})},
                  .compute = compute};
    const auto began = std::chrono::steady_clock::now();
    const Result<StoredUpdate> ended = co_await update(std::move(job));
    if (!ended) {
      // Permits that this write may have taken are lost. The callers that wait need other permits.
      if (ended.error() == ErrorCondition::outcome_unknown && !self->line_.empty()) continue;
      self->end_fetch(ended.error());
      co_return;
    }
    Stored written{ended->after, ended->time};
    const std::chrono::nanoseconds credit = credit_at(*entry, written, self->burst_);
    // The write was no later than its reply.
    const auto now = std::chrono::steady_clock::now();
    const PermitStock::Time first = now - credit;
    if (entry->cost > nothing) self->stock_.add(first, wish.permits, now - began);
    self->learn(first + entry->cost);
    self->end_fetch({});
    co_return;
  }
}

void PermitSource::end_fetch(error_code error) {
  is_fetching_ = false;
  if (error) {
    last_failed_ = fetches_;
    last_failure_ = error;
  }
  moved_.notify_all();
}

}  // namespace custodian::recipes_detail
