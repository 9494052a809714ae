#pragma once

/// \file
/// Operation sends one request: it waits for a connection, repeats failed attempts after pauses,
/// and ends with a reply, at its deadline, or by a cancellation. Used on the strand only.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>

#include "client/client_core.hpp"
#include "custodian/deadline.hpp"
#include "custodian/operation_options.hpp"
#include "custodian/retry_policy.hpp"

namespace custodian::detail {

/// Whether a request may be sent again when its outcome is unknown.
enum class Repeat { always, unless_outcome_unknown };

/// When an operation ends at the latest, and how it repeats its request.
struct Plan {
  Deadline deadline;
  RetryPolicy retry;
  Repeat repeat = Repeat::unless_outcome_unknown;
};

/// Fills in the client's defaults, and turns the deadline into a point in time.
[[nodiscard]] Plan make_plan(const ClientCore& core, Deadline deadline,
                             const std::optional<RetryPolicy>& retry, Repeat repeat);

/// Sends a request with retries, from any thread. The handler runs on the strand. A reply whose
/// stamp names no connection belongs to a request that was never sent. If the operation ends while
/// its request is in flight, the reply to that request goes to `late`, if there is one.
void perform(const CorePtr& core, Request request, Plan plan, CancellationPtr cancellation,
             ReplyHandler handler, ReplyHandler late = {});

/// perform() for a coroutine on the strand.
[[nodiscard]] boost::asio::awaitable<Reply> reply_to(CorePtr core, Request request, Plan plan,
                                                     CancellationPtr cancellation,
                                                     ReplyHandler late);
[[nodiscard]] boost::asio::awaitable<Reply> reply_to(CorePtr core, Request request, Plan plan,
                                                     CancellationPtr cancellation);

/// Waits on the strand for this duration; the deadline or a cancellation ends the wait earlier.
[[nodiscard]] boost::asio::awaitable<void> pause(CorePtr core, std::chrono::milliseconds duration,
                                                 Deadline deadline, CancellationPtr cancellation);

class Operation : public std::enable_shared_from_this<Operation> {
 public:
  Operation(CorePtr core, Request request, Plan plan, CancellationPtr cancellation,
            ReplyHandler handler, ReplyHandler late);
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  ~Operation();

  void start();
  /// There is a connection again.
  void on_connected();
  void finish(error_code error);

 private:
  friend class ClientCore;

  enum class Phase { not_started, waiting_for_connection, in_flight, pausing, finished };

  void attempt();
  void on_reply(Reply reply);
  void retry(error_code error);
  void on_time();
  void wake_at(Deadline::Clock::time_point time);
  void finish(Reply reply);
  [[nodiscard]] bool is_write() const;
  [[nodiscard]] std::shared_ptr<Watcher> watcher() const;

  const CorePtr core_;
  const Request request_;
  const Plan plan_;
  const CancellationPtr cancellation_;
  ReplyHandler handler_;
  ReplyHandler late_;
  boost::asio::steady_timer timer_;
  const Deadline::Clock::time_point began_ = Deadline::Clock::now();
  Phase phase_ = Phase::not_started;
  int retries_ = 0;
  ReplyProof stamp_;          ///< of the newest attempt that was sent and has failed
  std::uint64_t number_ = 0;  ///< the key in the core's list; 0 if it is not listed
};

}  // namespace custodian::detail
