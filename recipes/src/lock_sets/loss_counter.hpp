#pragma once

/// \file
/// LossCounter counts the lost leases of a group, and reports when one too many is lost.

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "custodian/lock_sets/lease_group.hpp"

namespace custodian::recipes_detail {

/// Threads: any. All calls of listen() come before the first call of another function.
class LossCounter : public std::enable_shared_from_this<LossCounter> {
 public:
  /// `spare` is the number of leases that may be lost without harm.
  LossCounter(const Client& home, std::size_t spare);
  LossCounter(const LossCounter&) = delete;
  LossCounter& operator=(const LossCounter&) = delete;
  ~LossCounter() = default;

  /// Counts the loss that `lost` reports. The counter keeps itself alive from now on, until
  /// dismiss().
  void listen(const std::stop_token& lost);
  /// Called when the leases are released: reports nothing from now on. Does not wait for a report
  /// that is under way.
  void dismiss() noexcept;

  [[nodiscard]] std::stop_token lost() const noexcept { return lost_.get_token(); }
  [[nodiscard]] const Client& home() const noexcept { return home_; }
  void wait(const CancellationPtr& cancellation, Handler<> handler);

 private:
  enum class Phase { listening, telling, told, dismissed };

  /// A pending wait(), which completes once.
  class Waiter {
   public:
    explicit Waiter(Handler<> handler) : handler_{std::move(handler)} {}
    void complete(error_code error);
    [[nodiscard]] bool done() const noexcept { return done_; }

   private:
    Handler<> handler_;
    std::atomic<bool> done_ = false;
  };

  void on_loss();
  void complete_waiters(error_code error);

  const Client home_;
  std::atomic<std::ptrdiff_t> spare_;
  std::atomic<Phase> phase_ = Phase::listening;
  std::stop_source lost_;
  /// The callbacks for the losses. The destructor of one waits until a call on another thread has
  /// ended.
  std::deque<std::stop_callback<std::function<void()>>> ears_;

  std::mutex mutex_;  ///< guards what follows
  std::vector<std::shared_ptr<Waiter>> waiters_;
};

}  // namespace custodian::recipes_detail
