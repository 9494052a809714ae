#include "serve/lock_board.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <utility>

namespace asio = boost::asio;

namespace custodian::cli {

/// A browser that is connected.
class LockBoard::Browser {
 public:
  explicit Browser(LockBoard& board)
      : board_{board}, waits_beyond_{board.is_recent() ? 0 : board.news_.version()} {
    if (++board_.browsers_ == 1) board_.go_on();
  }
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;
  ~Browser() {
    if (--board_.browsers_ == 0) board_.pause_.cancel();
  }

  [[nodiscard]] LockBoard& board() noexcept { return board_; }
  /// The event that the browser has not got yet; null if there is none.
  [[nodiscard]] std::shared_ptr<const std::string> take_news() {
    const std::uint64_t now = board_.news_.version();
    if (now <= waits_beyond_) return nullptr;
    waits_beyond_ = now;
    return board_.news_.event_after(std::exchange(seen_, now), board_.browsers_);
  }

 private:
  LockBoard& board_;
  std::optional<std::uint64_t> seen_{};
  std::uint64_t waits_beyond_;
};

LockBoard::LockBoard(asio::io_context& context, std::chrono::milliseconds every, Walk walk)
    : context_{context},
      every_{every},
      walk_{std::move(walk)},
      news_{every},
      changed_{context, asio::steady_timer::time_point::max()},
      pause_{context} {}

LockBoard::~LockBoard() {
  stop_.request_stop();
  walker_.join();
}

bool LockBoard::is_recent() const { return due_ && std::chrono::steady_clock::now() < *due_; }

void LockBoard::begin_walk() {
  if (std::exchange(is_walking_, true)) return;
  began_ = std::chrono::steady_clock::now();
  asio::post(walker_, [this, work = asio::make_work_guard(context_)] {
    auto found = std::make_shared<LockWalk>();
    try {
      *found = walk_(stop_.get_token());
    } catch (const std::exception& error) {
      found->error = error.what();
    }
    asio::post(context_, [this, found] { on_walk(found); });
  });
}

void LockBoard::on_walk(std::shared_ptr<const LockWalk> walk) {
  is_walking_ = false;
  const auto now = std::chrono::steady_clock::now();
  due_ = now + std::max<std::chrono::steady_clock::duration>(every_, now - began_);
  news_.take(std::move(walk));
  changed_.cancel();
  go_on();
}

void LockBoard::go_on() {
  if (browsers_ == 0 || stop_.stop_requested()) return;
  if (!is_recent()) return begin_walk();
  pause_.expires_at(*due_);
  pause_.async_wait([this](boost::system::error_code error) {
    if (!error) go_on();
  });
}

asio::awaitable<std::shared_ptr<const LockWalk>> LockBoard::recent() {
  if (!is_recent()) {
    begin_walk();
    const std::uint64_t before = walks();
    while (walks() == before && !stop_.stop_requested()) {
      co_await changed_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
  }
  co_return news_.last();
}

HttpEvents LockBoard::events() {
  return {[browser = std::make_shared<Browser>(*this)] { return next(browser); }};
}

asio::awaitable<std::shared_ptr<const std::string>> LockBoard::next(
    std::shared_ptr<Browser> browser) {
  LockBoard& board = browser->board();
  while (!board.stop_.stop_requested()) {
    if (auto news = browser->take_news()) co_return news;
    co_await board.changed_.async_wait(asio::as_tuple(asio::use_awaitable));
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) break;
  }
  co_return nullptr;
}

void LockBoard::join() { walker_.join(); }

void LockBoard::stop() {
  stop_.request_stop();
  pause_.cancel();
  changed_.cancel();
}

}  // namespace custodian::cli
