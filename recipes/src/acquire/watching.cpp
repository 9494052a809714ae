#include "acquire/watching.hpp"

#include <boost/asio/post.hpp>
#include <utility>

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

bool is_watched(const OwnedNode& own) { return own.watch() && !is_over(own.watch().state()); }

// The caller awaits this coroutine, so `own` outlives it.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
asio::awaitable<error_code> watch_own(AcquirePtr acquire, OwnedNode& own) {
  if (is_watched(own)) co_return error_code{};
  auto [error, result, watch] = co_await await<&start_get_and_watch, GetResult, Watch>(
      acquire->client().core(), acquire->give_up, own.path(), acquire->operation());
  if (!error) {
    own.set_watch(std::move(watch));
    acquire->asked = result.stat.version != 0;
  }
  co_return error;
}

asio::awaitable<error_code> wait_for_any(
    AcquirePtr acquire, std::vector<std::shared_ptr<detail::ClientWatcher>> watchers) {
  const auto [failure] = co_await await<&start_wait_any>(acquire->client().core(), acquire->give_up,
                                                         std::move(watchers));
  co_return failure == Errc::session_lost ? error_code{} : failure;
}

void tell_position(const Acquire& acquire, std::size_t ahead) {
  if (!acquire.options.on_position) return;
  asio::post(
      acquire.client().callback_executor(),
      [callback = acquire.options.on_position, ahead,
       nearest = acquire.nearest ? *acquire.nearest : Participant{}] { callback(ahead, nearest); });
}

}  // namespace custodian::recipes_detail
