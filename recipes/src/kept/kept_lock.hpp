#pragma once

/// \file
/// KeptLock is what a client does about one lock without asking the servers. Its callers pass the
/// lock on from thread to thread (HandOff::cohort), and the lock's node stays when nobody wants it
/// (LockOptions::keep_idle_for), so that the next caller has the lock at once. Its
/// waiters share a few ordinary acquires in the queue, the stand-ins. TurnOrder decides which
/// waiter is next, and what becomes of a released node, under a mutex and without the strand.

#include <sys/types.h>

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "acquire/acquire.hpp"
#include "acquire/newcomers.hpp"
#include "custodian/observer.hpp"
#include "kept/keep_forecast.hpp"
#include "kept/turn_order.hpp"
#include "local_handover/local_queue.hpp"

namespace custodian::recipes_detail {

/// One for each client and key (kept_locks.hpp): the lock objects with that key share it. Threads:
/// any.
class KeptLock final : public NewcomerListener, public std::enable_shared_from_this<KeptLock> {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// A node is kept no longer than this, counted from its grant. So a contender gets its turn even
  /// if a server never reports it.
  static constexpr std::chrono::minutes longest{1};

  /// How a stand-in acquires the lock from the servers.
  using Attempt = void (*)(const AcquirePtr&);

  KeptLock(const Client& client, HandOff hand_off, std::chrono::nanoseconds keep_idle_for,
           Attempt attempt);
  ~KeptLock() override;

  /// Whether the idle node would do for an acquire with these options.
  [[nodiscard]] static bool may_take(const AcquireOptions& options);
  /// Whether an acquire may wait here. One that only tries, or that has limits (other than a
  /// deadline) or options of its own, must queue by itself: a shared node cannot honour them.
  [[nodiscard]] static bool may_enter(const WaitLimit& wait_limit, const AcquireOptions& options);

  /// A lease on the idle node; empty if there is no node that may be used.
  [[nodiscard]] Lease take();
  /// Takes the idle node, or adds a waiter. The handler runs on any thread, or within this call.
  void enter(const LockSpecPtr& spec, CancellationPtr cancellation, Deadline deadline,
             Handler<AcquireResult> handler);

  /// The present node is not to be kept: an idle one is deleted, another one when it is released.
  void end_keeping(KeptLockEnd reason);
  /// The same for this node and all others.
  void close();
  /// Ends the keeping of a node that is old, or has not been used for long. Returns whether the
  /// object is worth remembering: it has a node or waiters, or was used in the last
  /// minute.
  [[nodiscard]] bool sweep(Time now);
  /// Whether the node has had another holder since the last call.
  [[nodiscard]] bool is_popular() noexcept { return is_popular_.exchange(false); }
  /// The client's context is destroyed: destroys the waiters' handlers, as Asio destroys its own,
  /// and the nodes.
  void abandon();
  [[nodiscard]] std::chrono::nanoseconds keep_idle_for() const noexcept { return keep_idle_for_; }

 private:
  using Id = TurnOrder::Id;
  using Tenure = TurnOrder::Tenure;
  using Lock = std::unique_lock<std::mutex>;
  struct Waiter {
    LockSpecPtr spec;
    Handler<AcquireResult> handler;
    Deadline deadline;
    BootClock::time_point began;  ///< set only if the client has an observer
  };
  /// An ordinary acquire. When it is granted the lock, the oldest waiter gets its lease. Until it
  /// ends it keeps the KeptLock alive.
  struct StandIn {
    std::weak_ptr<Acquire> acquire;
    CancellationPtr end;
    bool leaving = false;  ///< it was asked to leave the queue
  };
  /// Numbers the stand-ins, in the order of their start.
  using Number = std::uint64_t;
  struct NewStandIn {
    Number number = 0;
    AcquirePtr acquire;
    CancellationPtr end;
  };
  /// What must be done after the mutex is unlocked.
  struct Errand {
    std::vector<NewStandIn> stand;
    std::vector<CancellationPtr> leave;
    bool no_deadline_left = false;
  };

  // The holder of the lock, and the node that it has released.
  void on_acquired(Number number, error_code error, Lease lease);
  void on_failed(Lock lock, bool leaving, const error_code& error);
  void begin_tenure(const Waiter& holder, const Lease& lease, bool keeps);
  [[nodiscard]] bool is_alone(Number number, const Acquire& acquire, const Lease& lease) const;
  void on_done(Tenure tenure, detail::LockNodePtr node);
  void settle(Lock lock, TurnOrder::Next next, detail::LockNodePtr node);
  [[nodiscard]] detail::LockNodePtr take_node();
  void warn_of_long_hold(Time now);
  void record_end(KeptLockEnd reason);
  void tell_reuses(const CorePtr& core);

  // Is the client alone? The strand only.
  void wait_for_company(Tenure tenure);
  void list();
  void on_listed(const error_code& error, const std::vector<std::string>& names);
  void end_listing(bool alone, KeptLockEnd why = KeptLockEnd::wanted);
  void on_newcomer() override;

  // The waiters and their stand-ins.
  [[nodiscard]] Errand begin_errand(TurnOrder::Line line) { return add_to({}, line); }
  [[nodiscard]] Errand add_to(Errand errand, TurnOrder::Line line);
  [[nodiscard]] NewStandIn make_stand_in();
  [[nodiscard]] Waiter take_waiter(Id id, Errand& errand);
  void run(Errand errand);
  void hear_newcomers(const LockSpec& spec);  ///< the strand only
  static void complete(Waiter waiter, error_code error, AcquireResult result);

  // Cancellations and deadlines of waiters. The strand only.
  void limit(Id id, const CancellationPtr& cancellation, Deadline deadline);
  void give_up(Id id, error_code error);
  void set_alarm();
  void on_alarm();

  const boost::asio::any_io_executor strand_;
  const std::weak_ptr<CorePtr::element_type> core_;
  const std::chrono::nanoseconds keep_idle_for_;
  const Attempt attempt_;
  const pid_t process_;

  /// The present node is not to be kept. Set without the mutex: callers in a tight loop may keep
  /// the strand from that for long.
  std::atomic<bool> keeping_is_over_ = false;
  std::atomic<KeptLockEnd> why_over_ = KeptLockEnd::wanted;
  std::atomic<bool> is_popular_ = false;  ///< see is_popular()

  std::mutex mutex_;  ///< guards what follows
  TurnOrder order_;
  KeepForecast forecast_;
  std::map<Id, Waiter> waiters_;
  std::set<std::pair<Deadline::Clock::time_point, Id>> deadlines_;  ///< of those that have one
  std::map<Number, StandIn> in_line_;
  Number last_in_line_ = 0;
  /// The listings of stand-ins up to this one were made before a newcomer of this client came.
  Number outrun_ = 0;
  bool closed_ = false;
  detail::LockNodePtr idle_;
  detail::LockNodePtr released_;  ///< waits for the listing
  // Of the present node.
  bool keeps_ = false;     ///< it may be kept
  bool was_idle_ = false;  ///< it has been idle
  Time granted_at_{};
  /// When it was last used, as far as is known. The clock is not read at each use, for that takes
  /// as long as the rest of it: sweep() does so.
  Time used_at_{};
  bool was_used_ = false;     ///< since the last sweep
  long passes_ = 0;           ///< how often it passed on while the client was alone
  long reuses_ = 0;           ///< of these, when it was idle
  long reuses_told_ = 0;      ///< of these, those that the observer knows of
  ObservedLockPtr observed_;  ///< null without an observer
  FencingToken token_;        ///< of its first holder
  // Of the present holder.
  std::uint64_t turns_ = 0;  ///< how many holders there have been
  std::uint64_t turns_seen_ = 0;
  Time seen_at_{};

  // The strand only.
  bool hears_newcomers_ = false;
  Tenure newest_ = 0;
  std::string node_path_;  ///< of the present node
  LocalQueuePtr listed_;  ///< this client's part of the queue that is being listed; null if none is
  /// The second listing, which follows the deletes of the stand-ins, is decided on.
  bool listed_again_ = false;
  CancellationPtr listing_;  ///< of the present listing: the reply to another one does not count
  std::shared_ptr<Watch> watch_;  ///< of the newest listing
  std::unique_ptr<boost::asio::steady_timer> alarm_;
  Deadline::Clock::time_point alarm_at_ = Deadline::Clock::time_point::max();
};

using KeptLockPtr = std::shared_ptr<KeptLock>;

}  // namespace custodian::recipes_detail
