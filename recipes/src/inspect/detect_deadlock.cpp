#include "custodian/inspect/detect_deadlock.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "acquire/deadlock_watch.hpp"
#include "custodian/authoring/event.hpp"
#include "custodian/error.hpp"
#include "inspect/deadlock_circle.hpp"

namespace custodian {

namespace recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

/// The options of a detection, which all its acquires share.
struct Detection {
  DeadlockOptions options;

  [[nodiscard]] std::chrono::nanoseconds pause(const Client& client) const {
    // Without a session there is nothing to look at yet.
    constexpr std::chrono::seconds until_there_is_a_session{1};
    if (options.look_every) return *options.look_every;
    const std::chrono::milliseconds granted = client.session().timeout;
    return granted.count() > 0 ? granted : until_there_is_a_session;
  }
};

/// Whether the acquire may wait in a circle, as far as its own client knows.
bool may_be_in_a_circle(const Acquire& acquire) {
  const auto& core = acquire.client().core();
  return acquire.has_queued && acquire.somebody_ahead &&
         *AcquiresUnderWay::of(core).number() == 1 && detail::has_held_node(*core);
}

/// Removes the nodes that the client keeps without a holder: they are no holds.
void leave_out_idle_nodes(const Client& client, LockListing& listing) {
  const std::int64_t session = client.session().id;
  for (ListedLock& lock : listing.locks) {
    std::erase_if(lock.contenders, [&](const Inspected& each) {
      return each.participant.session == session &&
             detail::has_idle_node(*client.core(), each.participant.node);
    });
  }
}

/// Why a listing cannot be judged: what it does not show might contradict a circle. Empty if it can
/// be judged.
std::string_view what_it_lacks(const LockListing& listing) {
  if (!listing.is_complete) return "there are more nodes than DeadlockOptions::max_nodes";
  if (!listing.forbidden.empty()) return "the client may not read all of the nodes";
  return {};
}

/// The search of one acquire.
struct Search {
  AcquirePtr acquire;
  Detection detection;
  DeadlockMemory memory{};
  bool has_said_what_is_lacking = false;

  [[nodiscard]] const Client& client() const { return acquire->client(); }
  void say_what_is_lacking(std::string_view why) {
    if (std::exchange(has_said_what_is_lacking, true)) return;
    client().log(LogLevel::warning, acquire->spec->path + ": no deadlock can be detected below " +
                                        detection.options.below + ": " + std::string{why});
  }
};
using SearchPtr = std::shared_ptr<Search>;

/// The circle for which the acquire is to fail; nothing if the acquire is to wait on.
std::optional<WaitCycle> judge(Search& search, LockListing listing) {
  if (const std::string_view lacking = what_it_lacks(listing); !lacking.empty()) {
    search.say_what_is_lacking(lacking);
    search.memory.forget();
    return std::nullopt;
  }
  leave_out_idle_nodes(search.client(), listing);
  std::optional<WaitCycle> circle =
      find_deadlock(listing.locks,
                    {.session = search.client().session().id, .queue = search.acquire->spec->path});
  const bool fails = search.memory.on_look(circle);
  return fails ? std::move(circle) : std::nullopt;
}

/// Looks once. A look may take as long as the pause before it, or a second if that is more.
asio::awaitable<std::optional<WaitCycle>> look(SearchPtr search, std::chrono::nanoseconds pause,
                                               CancellationPtr over) {
  constexpr std::chrono::nanoseconds at_least = std::chrono::seconds{1};
  ListOptions options{.max_nodes = search->detection.options.max_nodes};
  options.operation.deadline = Deadline{std::max(pause, at_least)};
  const CorePtr core = search->client().core();
  const std::string below = search->detection.options.below;
  Client client = search->client().share();
  auto [error, listing] =
      co_await await<&start_list_locks, LockListing>(core, over, std::move(client), below, options);
  // Another acquire of this client may have begun meanwhile.
  if (error || over->requested() || !may_be_in_a_circle(*search->acquire)) {
    search->memory.forget();
    co_return std::nullopt;
  }
  co_return judge(*search, std::move(listing));
}

void tell(const Search& search, WaitCycle circle, const std::string& sentence) {
  search.client().log(LogLevel::warning,
                      search.acquire->spec->path + ": the acquire fails, since " + sentence);
  if (!search.detection.options.on_deadlock) return;
  asio::post(search.client().callback_executor(),
             [callback = search.detection.options.on_deadlock, circle = std::move(circle)] {
               callback(circle);
             });
}

asio::awaitable<std::string> search_until(SearchPtr search, CancellationPtr over) {
  // An event that is never notified: the deadline or the cancellation ends the wait for it.
  AsyncEvent none;
  const asio::any_io_executor strand = search->client().get_executor();
  while (!over->requested()) {
    const std::chrono::nanoseconds pause = search->detection.pause(search->client());
    co_await none.wait(strand, Deadline{pause}, over);
    if (over->requested()) break;
    if (!may_be_in_a_circle(*search->acquire)) {
      search->memory.forget();
      continue;
    }
    std::optional<WaitCycle> circle = co_await look(search, pause, over);
    if (!circle || search->acquire->give_up->requested()) continue;
    std::string sentence = sentence_of(*circle);
    tell(*search, std::move(*circle), sentence);
    co_return std::move(sentence);
  }
  co_return std::string{};
}

class ListingDetector final : public DeadlockDetector {
 public:
  explicit ListingDetector(DeadlockOptions options) : detection_{std::move(options)} {}

  [[nodiscard]] bool covers(std::string_view path) const override {
    const std::string& below = detection_.options.below;
    return path == below || path.starts_with(below == "/" ? below : below + "/");
  }
  [[nodiscard]] asio::awaitable<std::string> find(AcquirePtr acquire,
                                                  CancellationPtr over) const override {
    return search_until(std::make_shared<Search>(Search{std::move(acquire), detection_}),
                        std::move(over));
  }

 private:
  const Detection detection_;
};

void refuse(const DeadlockOptions& options, const std::string& why) {
  throw Error{Errc::invalid_argument, "detect_deadlock", options.below, why};
}

}  // namespace
}  // namespace recipes_detail

DeadlockDetection detect_deadlock(DeadlockOptions options) {
  using recipes_detail::refuse;
  if (!options.below.starts_with('/') ||
      (options.below.size() > 1 && options.below.ends_with('/'))) {
    refuse(options,
           "DeadlockOptions::below is no path: it begins with a slash, and ends with none");
  }
  if (options.max_nodes == 0)
    refuse(options, "DeadlockOptions::max_nodes is 0; it must be at least 1");
  if (options.look_every && options.look_every->count() <= 0) {
    refuse(options, "DeadlockOptions::look_every must be more than zero");
  }
  return std::make_shared<const recipes_detail::ListingDetector>(std::move(options));
}

}  // namespace custodian
