#include "acquire/deadlock_watch.hpp"

#include <utility>

namespace custodian::recipes_detail {

namespace asio = boost::asio;

bool may_watch_for_deadlock(const Acquire& acquire) {
  const DeadlockDetection& detection = acquire.options.detect_deadlock;
  return !detection || detection->covers(acquire.spec->path);
}

asio::awaitable<void> watch_for_deadlock(AcquirePtr acquire, CancellationPtr over) {
  std::string circle = co_await acquire->options.detect_deadlock->find(acquire, over);
  // An acquire that was given up before for another reason ends for that reason.
  if (circle.empty() || acquire->give_up->requested()) co_return;
  acquire->deadlock = std::move(circle);
  acquire->give_up->request();
}

}  // namespace custodian::recipes_detail
