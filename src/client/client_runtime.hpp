#pragma once

/// \file
/// The threads of a client that was given no executor.

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "custodian/client.hpp"

namespace custodian {

/// *Client::Runtime* has two threads, one for I/O and one for callbacks, which end by themselves
/// when nothing is left to do for the client. Each keeps the runtime alive.
struct Client::Runtime : std::enable_shared_from_this<Client::Runtime> {
  using WorkGuard = boost::asio::executor_work_guard<boost::asio::io_context::executor_type>;

  Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  void run();
  /// Lets the threads end: nothing uses the contexts any more. Called by the core's destructor, on
  /// any thread.
  void let_go();
  /// Joins the threads if they end in time.
  void join(Deadline deadline);

  boost::asio::io_context io{1};
  boost::asio::io_context callbacks{1};
  std::optional<WorkGuard> io_work{boost::asio::make_work_guard(io)};
  std::optional<WorkGuard> callback_work{boost::asio::make_work_guard(callbacks)};
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable thread_ended;
  int running = 0;
};

}  // namespace custodian
