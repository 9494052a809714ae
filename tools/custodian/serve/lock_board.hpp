#pragma once

/// \file
/// LockBoard walks over the locks for all browsers together: again and again while a browser is
/// connected, once for a program that asks, and not at all otherwise.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "http/http_server.hpp"
#include "serve/lock_news.hpp"
#include "serve/lock_walk.hpp"

namespace custodian::cli {

/// Threads: the context's, of which there must be one. The board must outlive the streams of events
/// that it has returned.
class LockBoard {
 public:
  /// Called on a thread of the board's own; may block.
  using Walk = std::function<LockWalk(std::stop_token stop)>;

  /// Each walk is followed by a pause: `every`, or the time that the walk took if that is longer.
  /// So walks take half of the time at most.
  LockBoard(boost::asio::io_context& context, std::chrono::milliseconds every, Walk walk);
  LockBoard(const LockBoard&) = delete;
  LockBoard& operator=(const LockBoard&) = delete;
  ~LockBoard();

  /// The result of the last walk if the next one is not due yet; otherwise that of the next one,
  /// which all callers share. After stop() the result may be that of an earlier walk, or null.
  [[nodiscard]] boost::asio::awaitable<std::shared_ptr<const LockWalk>> recent();
  /// The events of a browser. The browser counts as connected until they are destroyed.
  [[nodiscard]] HttpEvents events();
  /// Ends the streams of events, and the walk under way.
  void stop();
  /// Waits for the end of the walk under way.
  void join();

  /// How many browsers are connected.
  [[nodiscard]] std::size_t browsers() const noexcept { return browsers_; }
  /// How many walks have ended.
  [[nodiscard]] std::uint64_t walks() const noexcept { return news_.version(); }

 private:
  class Browser;

  [[nodiscard]] static boost::asio::awaitable<std::shared_ptr<const std::string>> next(
      std::shared_ptr<Browser> browser);
  [[nodiscard]] bool is_recent() const;
  /// Begins a walk, unless one is under way.
  void begin_walk();
  void on_walk(std::shared_ptr<const LockWalk> walk);
  void go_on();

  boost::asio::io_context& context_;
  const std::chrono::milliseconds every_;
  const Walk walk_;
  LockNews news_;
  std::stop_source stop_;
  boost::asio::thread_pool walker_{1};
  boost::asio::steady_timer changed_;  ///< cancelled at the end of each walk
  boost::asio::steady_timer pause_;
  std::chrono::steady_clock::time_point began_;  ///< of the newest walk
  /// When the next walk is due; none before the first.
  std::optional<std::chrono::steady_clock::time_point> due_;
  std::size_t browsers_ = 0;
  bool is_walking_ = false;
};

}  // namespace custodian::cli
