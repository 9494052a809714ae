#include "election.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <condition_variable>
#include <mutex>

#include "custodian/leader/leader_latch.hpp"
#include "custodian/leader/leader_selector.hpp"

namespace custodian::chaos {

namespace asio = boost::asio;

namespace {

/// The selector's function puts the leadership here.
struct Desk {
  std::mutex mutex;
  std::condition_variable brought;
  Lease leadership;
};

}  // namespace

Lease Election::acquire_until(Deadline deadline) {
  if (recipe_ == Recipe::latch) {
    LeaderLatch latch{client_, path_};
    latch.start();
    return latch.wait_until(deadline);
  }
  Desk desk;
  Lease leadership;
  {
    LeaderSelector selector{client_, path_, [&desk](const Lease& mine, const std::stop_token&) {
                              const std::lock_guard lock{desk.mutex};
                              desk.leadership = mine.share();
                              desk.brought.notify_all();
                            }};
    selector.start();
    std::unique_lock lock{desk.mutex};
    desk.brought.wait_until(lock, deadline.time_point(),
                            [&desk] { return static_cast<bool>(desk.leadership); });
  }
  // A leadership that came after the deadline, before the selector ended, counts as well.
  return std::move(desk.leadership);
}

asio::awaitable<std::tuple<error_code, Lease>> Election::async_acquire(
    std::shared_ptr<asio::cancellation_signal> cancellation) {
  auto cancellable =
      asio::bind_cancellation_slot(cancellation->slot(), asio::as_tuple(asio::use_awaitable));
  if (recipe_ == Recipe::latch) {
    LeaderLatch latch{client_, path_};
    latch.start();
    auto [error, leadership] = co_await latch.async_wait(std::move(cancellable));
    co_return std::tuple{error, std::move(leadership)};
  }
  const auto executor = co_await asio::this_coro::executor;
  const auto brought =
      std::make_shared<asio::steady_timer>(executor, asio::steady_timer::time_point::max());
  const auto desk = std::make_shared<Lease>();
  // The function runs on this executor, whose context has one thread, so it needs no mutex.
  const auto bring = [desk, brought](Lease mine, std::stop_token) -> asio::awaitable<void> {
    return [](std::shared_ptr<Lease> onto, std::shared_ptr<asio::steady_timer> bell,
              Lease leadership) -> asio::awaitable<void> {
      *onto = std::move(leadership);
      bell->cancel();
      co_return;
    }(desk, brought, std::move(mine));
  };
  LeaderSelector selector{client_, path_, bring, {.executor = executor}};
  selector.start();
  co_await brought->async_wait(std::move(cancellable));
  selector.close();
  if (*desk) co_return std::tuple{error_code{}, std::move(*desk)};
  co_return std::tuple{make_error_code(asio::error::operation_aborted), Lease{}};
}

}  // namespace custodian::chaos
