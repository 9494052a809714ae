#include "custodian/atomics/cached_atomic_long.hpp"

#include <limits>
#include <utility>

#include "atomics/number_cache.hpp"
#include "custodian/authoring/spawn.hpp"

namespace custodian {

namespace recipes_detail {

void start_next_number(CorePtr core, CancellationPtr cancellation, NumberCachePtr cache,
                       OperationOptions options, Handler<std::int64_t> handler) {
  // In a forked child the mutex may be locked for ever, and the cached numbers belong to the
  // parent.
  if (const error_code unusable = cache->client().unusable()) {
    return std::move(handler)(unusable, std::int64_t{});
  }
  const std::uint64_t fetches = cache->fetches();
  if (const auto number = cache->take()) return std::move(handler)(error_code{}, *number);
  const std::string what = "waiting for a number of " + cache->path();
  options.deadline = cache->client().deadline_or_default(options.deadline);
  spawn(core, what, NumberCache::wait(std::move(cache), std::move(cancellation), options, fetches),
        std::move(handler));
}

}  // namespace recipes_detail

namespace {

CachedAtomicOptions checked(const DistributedAtomicLong& atomic, CachedAtomicOptions options) {
  const auto refuse = [&](bool wrong, std::string_view why) {
    if (wrong) throw Error{Errc::invalid_argument, "CachedAtomicLong", atomic.path(), why};
  };
  refuse(options.chunk <= 0, "chunk: it is not positive");
  refuse(options.prefetch_at < 0, "prefetch_at: it is negative");
  // Memory may hold as many numbers as `prefetch_at` and `chunk` together.
  refuse(options.prefetch_at > std::numeric_limits<std::int64_t>::max() - options.chunk,
         "prefetch_at: together with the chunk it is 2^63 or more");
  return options;
}

}  // namespace

CachedAtomicLong::CachedAtomicLong(const DistributedAtomicLong& atomic, CachedAtomicOptions options)
    : core_{atomic.state()->value->client.core()},
      cache_{std::make_shared<recipes_detail::NumberCache>(atomic.state(),
                                                           checked(atomic, options))} {}

const std::string& CachedAtomicLong::path() const noexcept { return cache_->path(); }

std::int64_t CachedAtomicLong::next(OperationOptions options) {
  if (const error_code unusable = cache_->client().unusable()) {
    throw Error{unusable, "next", path()};
  }
  if (const auto number = cache_->take_if_any()) return *number;
  return block_in_time_or_throw<&recipes_detail::start_next_number, std::int64_t>(
      core_, "next", path(), {}, {options.deadline}, cache_, options);
}

std::optional<std::int64_t> CachedAtomicLong::try_next() {
  if (const error_code unusable = cache_->client().unusable()) {
    throw Error{unusable, "next", path()};
  }
  return cache_->take();
}

}  // namespace custodian
