/// \file
/// 1. Try each home's stripes, one home after the other, beginning with a random one, until a
///    stripe is granted. A home that cannot be reached is passed over.
/// 2. If none is granted, wait at all homes at once.
/// 3. Take the first lease. End the acquires at the other homes, and release any other lease that
///    they still bring.

#include "locks/stripes_at_homes.hpp"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "custodian/authoring/event.hpp"
#include "custodian/authoring/spawn.hpp"
#include "custodian/authoring/uuid.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

std::vector<StripesPtr> divided_by_home(const Stripes& stripes) {
  std::map<CorePtr, Stripes> homes;
  for (const LockSpecPtr& spec : stripes.specs) {
    Stripes& home = homes[spec->client.core()];
    home.path = stripes.path;
    home.specs.push_back(spec);
  }
  std::vector<StripesPtr> all;
  if (homes.size() == 1) return all;
  for (auto& [core, home] : homes) all.push_back(std::make_shared<const Stripes>(std::move(home)));
  return all;
}

namespace {

/// The acquire at one home.
struct HomeAcquire {
  CancellationPtr give_up{};
  std::optional<error_code> end{};
  StripeLease result{};
};

/// An acquire at all homes. Touched on the strand of the first stripe's client only.
struct AcquireAtHomes {
  AcquireAtHomes(StripesPtr all, WaitLimit limit, AcquireOptions terms)
      : stripes{std::move(all)},
        wait_limit{limit},
        options{std::move(terms)},
        homes(stripes->homes.size()) {}

  const StripesPtr stripes;
  const WaitLimit wait_limit;
  const AcquireOptions options;
  std::vector<HomeAcquire> homes;
  bool given_up = false;
  AsyncEvent changed;

  [[nodiscard]] const Client& client() const { return stripes->specs.front()->client; }
  [[nodiscard]] bool all_ended() const {
    return std::ranges::all_of(homes, [](const HomeAcquire& each) { return !!each.end; });
  }
  [[nodiscard]] bool any_granted() const {
    return std::ranges::any_of(homes, [](const HomeAcquire& each) { return !!each.result.lease; });
  }
  [[nodiscard]] bool any_failed() const {
    return std::ranges::any_of(homes,
                               [](const HomeAcquire& each) { return each.end && *each.end; });
  }
  void give_up_all() const {
    for (const HomeAcquire& each : homes) {
      if (each.give_up) each.give_up->request();
    }
  }
};

using AcquireAtHomesPtr = std::shared_ptr<AcquireAtHomes>;

/// Starts the acquire at one home, on its client's strand.
void start_at_home(const AcquireAtHomesPtr& acquire, std::size_t index, WaitLimit limit) {
  const StripesPtr& stripes = acquire->stripes->homes[index];
  HomeAcquire& home = acquire->homes[index];
  home = {.give_up = std::make_shared<Cancellation>(stripes->specs.front()->client.core())};
  const asio::any_io_executor strand = acquire->client().get_executor();
  start_acquire_any_within(stripes, home.give_up, limit, acquire->options,
                           [acquire, index, strand](error_code error, StripeLease result) mutable {
                             asio::dispatch(strand, [acquire = std::move(acquire), index, error,
                                                     result = std::move(result)]() mutable {
                               acquire->homes[index].end = error;
                               acquire->homes[index].result = std::move(result);
                               acquire->changed.notify_all();
                             });
                           });
}

asio::awaitable<void> next_change(AcquireAtHomesPtr acquire) {
  const asio::any_io_executor strand = acquire->client().get_executor();
  const CancellationPtr none;
  co_await acquire->changed.wait(strand, Deadline::never(), none);
}

/// Step 1: tries the homes one after the other.
asio::awaitable<void> try_homes(AcquireAtHomesPtr acquire) {
  const std::size_t count = acquire->homes.size();
  const std::size_t first = stripe_of(make_uuid(), count);
  WaitLimit once = acquire->wait_limit;
  once.try_once = true;
  for (std::size_t i = 0; i < count && !acquire->given_up; ++i) {
    const std::size_t index = (first + i) % count;
    start_at_home(acquire, index, once);
    while (!acquire->homes[index].end) co_await next_change(acquire);
    if (acquire->any_granted()) co_return;
  }
}

/// Steps 2 and 3: waits at all homes, until one has granted a stripe.
asio::awaitable<void> wait_at_homes(AcquireAtHomesPtr acquire) {
  for (std::size_t i = 0; i < acquire->homes.size(); ++i) {
    start_at_home(acquire, i, acquire->wait_limit);
  }
  const auto is_decided = [&] {
    return acquire->given_up || acquire->any_granted() || acquire->any_failed();
  };
  while (!is_decided() && !acquire->all_ended()) co_await next_change(acquire);
  acquire->give_up_all();
  while (!acquire->all_ended()) co_await next_change(acquire);
}

struct EndAtHomes {
  error_code error{};
  StripeLease result{};
};

/// The end of the acquire: operation_aborted if it was given up, otherwise a lease, otherwise an
/// error, otherwise the reason why there is neither. Of several reasons, `blocked` comes first.
EndAtHomes end_of(AcquireAtHomes& acquire) {
  const auto granted = std::ranges::find_if(
      acquire.homes, [](const HomeAcquire& each) { return !!each.result.lease; });
  if (granted != acquire.homes.end() && !acquire.given_up) {
    granted->result.index = index_of(*acquire.stripes, granted->result.lease);
    return {.result = std::move(granted->result)};
  }
  if (acquire.given_up) return {.error = asio::error::operation_aborted};
  // operation_aborted is no cause: that acquire was ended because another home has failed.
  const auto failed = std::ranges::find_if(acquire.homes, [](const HomeAcquire& each) {
    return each.end && *each.end && *each.end != asio::error::operation_aborted;
  });
  if (failed != acquire.homes.end()) return {.error = *failed->end};
  auto telling = std::ranges::find_if(acquire.homes, [](const HomeAcquire& each) {
    return each.result.reason == NotAcquired::blocked;
  });
  if (telling == acquire.homes.end()) telling = acquire.homes.begin();
  return {.result = std::move(telling->result)};
}

asio::awaitable<void> acquire_at_homes(AcquireAtHomesPtr acquire, CancellationPtr callers,
                                       std::shared_ptr<Handler<StripeLease>> handler) {
  const auto give_up = [weak = std::weak_ptr{acquire}] {
    const auto alive = weak.lock();
    if (!alive) return;
    alive->given_up = true;
    alive->give_up_all();
    alive->changed.notify_all();
  };
  if (callers) {
    callers->on_request(acquire.get(), give_up);
    if (callers->requested()) give_up();
  }
  co_await try_homes(acquire);
  const bool may_wait = !acquire->wait_limit.try_once && !acquire->wait_limit.deadline.passed();
  if (!acquire->given_up && !acquire->any_granted() && may_wait) co_await wait_at_homes(acquire);
  if (callers) callers->forget(acquire.get());
  EndAtHomes end = end_of(*acquire);
  // All other leases are released here.
  for (HomeAcquire& each : acquire->homes) each.result.lease.release();
  std::move (*handler)(end.error, std::move(end.result));
}

}  // namespace

void start_acquire_any_at_homes(const StripesPtr& stripes, CancellationPtr cancellation,
                                WaitLimit wait_limit, AcquireOptions options,
                                Handler<StripeLease> handler) {
  const auto acquire = std::make_shared<AcquireAtHomes>(stripes, wait_limit, std::move(options));
  const CorePtr core = acquire->client().core();
  if (detail::is_forked(*core)) return std::move(handler)(Errc::forked, StripeLease{});
  const auto ending = std::make_shared<Handler<StripeLease>>(std::move(handler));
  spawn(core, "an acquire of any stripe of " + stripes->path,
        acquire_at_homes(acquire, std::move(cancellation), ending), [ending](error_code failure) {
          if (*ending) std::move (*ending)(failure, StripeLease{});
        });
}

}  // namespace custodian::recipes_detail
