#pragma once

/// \file
/// Cohort is the acquires of one lock object that pass the lock on to each other, from thread to
/// thread (HandOff::cohort). A few ordinary acquires, the stand-ins, are in the queue for all of
/// them; which waiter gets the lock then is decided here, under a mutex and without the strand.

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "acquire/acquire.hpp"
#include "kept/turn_order.hpp"

namespace custodian::recipes_detail {

/// A LockSpec owns its cohort; the static functions get that LockSpec, and so keep both alive.
/// Threads: any.
class Cohort {
 public:
  Cohort(const Client& client, int max_local_handoffs);
  Cohort(const Cohort&) = delete;
  Cohort& operator=(const Cohort&) = delete;
  ~Cohort();

  /// Whether an acquire may join. One that only tries, or that has limits (other than a deadline)
  /// or options of its own, must queue by itself: a shared node cannot honour them.
  [[nodiscard]] static bool may_enter(const WaitLimit& wait_limit, const AcquireOptions& options);
  /// Adds a waiter. The handler runs on any thread, or within this call.
  static void enter(const LockSpecPtr& spec, CancellationPtr cancellation, Deadline deadline,
                    Handler<AcquireResult> handler);

 private:
  using Id = CohortOrder::Id;
  using Time = Deadline::Clock::time_point;
  struct Waiter {
    Handler<AcquireResult> handler;
    Deadline deadline;
    BootClock::time_point began;  ///< set only if the client has an observer
  };
  /// A stand-in: an ordinary acquire. When it is granted the lock, the oldest waiter gets its
  /// lease. Until it ends it keeps itself and the LockSpec alive.
  struct InLine {
    std::weak_ptr<Acquire> acquire;
    CancellationPtr end;
    bool leaving = false;  ///< it was asked to leave the queue
  };
  /// Numbers the stand-ins, in the order of their start.
  using Number = std::uint64_t;
  /// What must be done after the mutex is unlocked.
  struct Errand {
    AcquirePtr stand;
    Number number = 0;
    CancellationPtr end_of_stand;
    std::vector<CancellationPtr> leave;
    bool no_deadline_left = false;
  };

  static void on_acquired(const LockSpecPtr& spec, Number number, error_code error, Lease lease);
  static void on_done(const LockSpecPtr& spec, CohortOrder::Tenure tenure,
                      detail::LockNodePtr node);
  static void run(const LockSpecPtr& spec, Errand errand);
  /// Ends a waiter with this result.
  static void end(const LockSpecPtr& spec, Waiter waiter, error_code error, AcquireResult result);

  // The strand only.
  static void limit(const LockSpecPtr& spec, Id id, const CancellationPtr& cancellation,
                    Deadline deadline);
  static void give_up(const LockSpecPtr& spec, Id id, error_code error);
  static void set_alarm(const LockSpecPtr& spec);
  static void on_alarm(const LockSpecPtr& spec);

  // The caller holds the mutex.
  [[nodiscard]] Errand begin_errand(const LockSpecPtr& spec, CohortOrder::Line line);
  [[nodiscard]] Waiter take(Id id, Errand& errand);

  const Client client_;
  std::mutex mutex_;  ///< guards what follows
  CohortOrder order_;
  std::map<Id, Waiter> waiters_;
  std::set<std::pair<Time, Id>> deadlines_;  ///< of the waiters that have one
  std::map<Number, InLine> in_line_;
  Number last_in_line_ = 0;

  // The strand only.
  std::unique_ptr<boost::asio::steady_timer> alarm_;
  Time alarm_at_ = Time::max();
};

/// make_lock_spec() for a lock whose holders may pass it on to each other
/// (`LockOptions::hand_off`).
[[nodiscard]] LockSpecPtr make_lock_spec_with_cohort(const Client& client, std::string_view lock,
                                                     const NamingRule& rule, ContenderKind kind,
                                                     std::string path, LockOptions options,
                                                     std::optional<ObservedAs> observed_as = {});

}  // namespace custodian::recipes_detail
