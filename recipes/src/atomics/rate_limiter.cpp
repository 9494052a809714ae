#include "custodian/atomics/rate_limiter.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "async/observed_wait.hpp"
#include "atomics/permit_source.hpp"
#include "custodian/authoring/argument_checks.hpp"
#include "custodian/authoring/spawn.hpp"

namespace custodian {

namespace recipes_detail {

namespace asio = boost::asio;

namespace {

constexpr std::string_view recipe = "RateLimiter";

/// The permits of one call are worth at most this time.
constexpr std::chrono::hours most_at_once{24};

asio::awaitable<Result<void>> acquire_all(PermitSourcePtr source, CancellationPtr cancellation,
                                          std::int64_t permits) {
  const Patience endless;
  const Result<bool> ended = co_await PermitSource::acquire(source, cancellation, permits, endless);
  if (!ended) co_return ended.error();
  co_return Result<void>{};
}

std::string waiting_for_permits(const PermitSource& source) {
  return "waiting for permits of " + source.path();
}

}  // namespace

void check_permits(const PermitSourcePtr& source, std::int64_t permits) {
  const std::int64_t most = std::max<std::int64_t>(1, most_at_once / source->interval());
  if (permits < 1 || permits > most) {
    throw Error{Errc::invalid_argument, "RateLimiter", source->path(),
                "permits: pass 1 to " + std::to_string(most) + ", what the rate gives in a day"};
  }
}

void start_acquire_at_rate(CorePtr core, CancellationPtr cancellation, PermitSourcePtr source,
                           std::int64_t permits, Handler<> handler) {
  Handler<> observed = observed_wait(core, recipe, source->path(), std::move(handler));
  const std::string what = waiting_for_permits(*source);
  spawn(core, what, acquire_all(std::move(source), std::move(cancellation), permits),
        std::move(observed));
}

void start_try_acquire_at_rate(CorePtr core, CancellationPtr cancellation, PermitSourcePtr source,
                               std::int64_t permits, Handler<bool> handler) {
  Handler<bool> observed = observed_wait(core, recipe, source->path(), std::move(handler));
  const std::string what = waiting_for_permits(*source);
  const Patience none{Patience::Kind::none, source->client().deadline_or_default({})};
  spawn(core, what,
        PermitSource::acquire(std::move(source), std::move(cancellation), permits, none),
        std::move(observed));
}

void start_try_acquire_at_rate_until(CorePtr core, CancellationPtr cancellation,
                                     PermitSourcePtr source, std::int64_t permits, Deadline until,
                                     Handler<bool> handler) {
  Handler<bool> observed = observed_wait(core, recipe, source->path(), std::move(handler));
  const std::string what = waiting_for_permits(*source);
  const Patience limited{Patience::Kind::limited, source->client().deadline_or_default(until)};
  spawn(core, what,
        PermitSource::acquire(std::move(source), std::move(cancellation), permits, limited),
        std::move(observed));
}

}  // namespace recipes_detail

namespace {

/// The time between two permits, rounded up, so that the rate is not exceeded.
std::chrono::nanoseconds interval_of(const RateLimit& limit) {
  return std::chrono::nanoseconds{std::llround(std::ceil(1e9 / limit.permits_per_second))};
}

recipes_detail::PermitSourcePtr make_source(const Client& client, std::string path,
                                            const RateLimit& limit) {
  const CorePtr& core = client.core();
  check_path(core, "RateLimiter", path);
  check_create(core, path, {}, {});
  const auto refuse = [&](bool wrong, std::string_view why) {
    if (wrong) throw Error{Errc::invalid_argument, "RateLimiter", path, why};
  };
  // A rate below one permit in a hundred years is refused. So is NaN, with which any comparison is
  // false.
  refuse(!(limit.permits_per_second > 3e-10), "permits_per_second: it is not positive");
  refuse(limit.permits_per_second > 1e9, "permits_per_second: more than a thousand million");
  const std::chrono::nanoseconds none{0};
  const std::chrono::hours day{24};
  refuse(limit.burst < none || limit.burst > day, "burst: it is negative, or more than a day");
  refuse(limit.chunk < none || limit.chunk > day, "chunk: it is negative, or more than a day");
  auto value = std::make_shared<recipes_detail::SharedNode>(
      recipes_detail::SharedNode{.client = client.share(), .path = std::move(path), .seed = {}});
  auto node = std::make_shared<recipes_detail::AtomicNode>(
      recipes_detail::AtomicNode{.value = std::move(value), .options = {}});
  return std::make_shared<recipes_detail::PermitSource>(std::move(node), limit, interval_of(limit));
}

}  // namespace

RateLimiter::RateLimiter(const Client& client, std::string path, RateLimit limit)
    : core_{client.core()}, source_{make_source(client, std::move(path), limit)} {}

const std::string& RateLimiter::path() const noexcept { return source_->path(); }

void RateLimiter::acquire(std::int64_t permits, std::stop_token stop) {
  recipes_detail::check_permits(source_, permits);
  block_or_throw<&recipes_detail::start_acquire_at_rate>(core_, "acquire", path(), std::move(stop),
                                                         source_, permits);
}

bool RateLimiter::try_acquire(std::int64_t permits) {
  recipes_detail::check_permits(source_, permits);
  return block_in_time_or_throw<&recipes_detail::start_try_acquire_at_rate, bool>(
      core_, "try_acquire", path(), {}, {}, source_, permits);
}

bool RateLimiter::try_acquire_for(std::int64_t permits, Deadline limit) {
  recipes_detail::check_permits(source_, permits);
  return block_in_time_or_throw<&recipes_detail::start_try_acquire_at_rate_until, bool>(
      core_, "try_acquire_for", path(), {}, {limit}, source_, permits, limit);
}

}  // namespace custodian
