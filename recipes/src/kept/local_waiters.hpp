#pragma once

/// \file
/// LocalWaiters has the callers of a client that wait for a node which the client owns, or queues
/// for. These callers have no node of their own, but each has a deadline and a cancellation. The
/// derived class decides which of them gets the lock next.

#include <sys/types.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "acquire/acquire.hpp"

namespace custodian::recipes_detail {

class LocalWaiters : public std::enable_shared_from_this<LocalWaiters> {
 public:
  using Id = std::uint64_t;  ///< of a waiter; in the order of arrival

  LocalWaiters(const LocalWaiters&) = delete;
  LocalWaiters& operator=(const LocalWaiters&) = delete;

 protected:
  using Lock = std::unique_lock<std::mutex>;
  struct Waiter {
    LockSpecPtr spec;
    Handler<AcquireResult> handler;
    Deadline deadline;
    ObservedAcquire observed;
    AcquiresUnderWay::Entry under_way{};
  };
  /// What was ahead of the acquires of the waiters' nodes.
  struct Sight {
    bool stood = false;  ///< one of the acquires was in the queue
    bool somebody_ahead = false;
    std::optional<Participant> nearest{};
    void add(const std::weak_ptr<Acquire>& acquire);
  };

  explicit LocalWaiters(const Client& client);
  ~LocalWaiters();

  /// Whether an acquire may wait here. One that only tries, or that has limits (other than a
  /// deadline) or options of its own, must queue by itself: a shared node cannot honour them.
  [[nodiscard]] static bool may_wait(const WaitLimit& wait_limit, const AcquireOptions& options);

  // The caller holds the mutex.
  void add_waiter(Id id, Waiter waiter);
  [[nodiscard]] Waiter take_waiter(Id id);
  /// Takes all of them. They must be destroyed after the mutex is unlocked: the destructor of a
  /// handler runs other code.
  [[nodiscard]] std::map<Id, Waiter> take_all();

  // The strand only.
  /// Limits a waiter: calls give_up() when the waiter is cancelled, or when its deadline passes.
  void limit(Id id, const CancellationPtr& cancellation, Deadline deadline);
  virtual void give_up(Id id, error_code error) = 0;
  /// Sets the alarm to the first deadline. To be called when the last deadline is gone: a pending
  /// alarm would keep the client's context running.
  void set_alarm();

  /// Ends a waiter without a lease, with this error. `sight` may know more than the acquires did.
  static void complete_late(Waiter waiter, error_code error, Sight sight);
  static void complete(Waiter waiter, error_code error, AcquireResult result);

  const boost::asio::any_io_executor strand_;
  const pid_t process_;
  const AcquiresUnderWay::Count under_way_;  ///< of the client
  std::mutex mutex_;                         ///< guards what follows
  std::map<Id, Waiter> waiters_;
  std::set<std::pair<Deadline::Clock::time_point, Id>> deadlines_;  ///< of those that have one

 private:
  void on_alarm();

  // The strand only.
  std::unique_ptr<boost::asio::steady_timer> alarm_;
  Deadline::Clock::time_point alarm_at_ = Deadline::Clock::time_point::max();
};

/// Reports the end of an acquire that stands in for waiters, once. If its handler is destroyed
/// uncalled, together with its executor's context, the destructor reports the end; but not in the
/// child of a fork.
class LastWord {
 public:
  LastWord(LockSpecPtr spec, std::function<void(error_code, Lease)> say)
      : spec_{std::move(spec)}, say_{std::move(say)} {}
  LastWord(const LastWord&) = delete;
  LastWord& operator=(const LastWord&) = delete;
  ~LastWord();
  void operator()(error_code error, Lease lease) {
    std::exchange(say_, nullptr)(error, std::move(lease));
  }

 private:
  LockSpecPtr spec_;
  std::function<void(error_code, Lease)> say_;
};

}  // namespace custodian::recipes_detail
