#pragma once

/// \file
/// KeptLock handles one lock within a client, as far as that needs no answer from the servers. Its
/// callers pass the lock on from thread to thread (HandOff::cohort), and the lock's node stays when
/// no contender wants it (LockOptions::keep_idle_for), so that the next caller has the lock at
/// once. Its waiters share a few ordinary acquires in the queue, the stand-ins. TurnOrder decides
/// which waiter is next, and what becomes of a released node, under a mutex and without the strand.

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <vector>

#include "kept/keeper.hpp"
#include "kept/kept_record.hpp"
#include "kept/local_waiters.hpp"
#include "kept/turn_order.hpp"
#include "local_handover/local_queue.hpp"

namespace custodian::recipes_detail {

/// One for each client and key (kept_locks.hpp): the lock objects with that key share it. Threads:
/// any.
class KeptLock final : public Keeper, public LocalWaiters {
 public:
  /// How a stand-in acquires the lock from the servers.
  using Attempt = void (*)(const AcquirePtr&);

  KeptLock(const Client& client, HandOff hand_off, std::chrono::nanoseconds keep_idle_for,
           Attempt attempt);

  /// Whether an acquire with these options may use the idle node.
  [[nodiscard]] static bool may_take(const AcquireOptions& options);
  /// Whether an acquire may wait here.
  [[nodiscard]] static bool may_enter(const WaitLimit& wait_limit, const AcquireOptions& options);

  /// A lease on the idle node; empty if there is no node that may be used.
  [[nodiscard]] Lease take();
  /// Takes the idle node, or adds a waiter. The handler runs on any thread, or within this call.
  void enter(const LockSpecPtr& spec, CancellationPtr cancellation, Deadline deadline,
             Handler<AcquireResult> handler);

  void end_keeping(KeptLockEnd reason) override;
  void close() override;
  [[nodiscard]] bool sweep(Time now) override;
  [[nodiscard]] bool is_popular() noexcept override { return is_popular_.exchange(false); }
  void abandon() override;
  [[nodiscard]] std::chrono::nanoseconds keep_idle_for() const noexcept override {
    return keep_idle_for_;
  }

 private:
  using Tenure = TurnOrder::Tenure;
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

  [[nodiscard]] std::shared_ptr<KeptLock> self() {
    return std::static_pointer_cast<KeptLock>(shared_from_this());
  }
  [[nodiscard]] std::weak_ptr<KeptLock> weak() { return self(); }

  // The holder of the lock, and the node that it has released.
  void on_acquired(Number number, error_code error, Lease lease);
  void on_failed(Lock lock, bool leaving, const error_code& error);
  void begin_tenure(const Waiter& holder, const Lease& lease, bool keeps);
  [[nodiscard]] bool is_alone(Number number, const Acquire& acquire, const Lease& lease) const;
  void on_done(Tenure tenure, detail::LockNodePtr node);
  void settle(Lock lock, TurnOrder::Next next, detail::LockNodePtr node);
  [[nodiscard]] detail::LockNodePtr take_node();
  void warn_of_long_hold(Time now);

  // Is the client alone? The strand only.
  void wait_for_company(Tenure tenure);
  void list();
  void on_listed(const error_code& error, const std::vector<std::string>& names);
  void end_listing(bool alone, KeptLockEnd why = KeptLockEnd::wanted);
  void on_newcomer(ContenderKind kind) override;

  // The waiters and their stand-ins.
  [[nodiscard]] Errand begin_errand(TurnOrder::Line line) { return add_to({}, line); }
  [[nodiscard]] Errand add_to(Errand errand, TurnOrder::Line line);
  [[nodiscard]] NewStandIn make_stand_in();
  [[nodiscard]] Waiter take_waiter(Id id, Errand& errand);
  void run(Errand errand);
  void hear_newcomers(const LockSpec& spec);  ///< the strand only
  void give_up(Id id, error_code error) override;

  const std::weak_ptr<CorePtr::element_type> core_;
  const std::chrono::nanoseconds keep_idle_for_;
  const Attempt attempt_;

  /// Whether the keeping of the present node is over. Set without the mutex, for which the strand
  /// may have to wait long while callers lock it in a tight loop.
  std::atomic<bool> keeping_is_over_ = false;
  std::atomic<KeptLockEnd> why_over_ = KeptLockEnd::wanted;
  std::atomic<bool> is_popular_ = false;  ///< see is_popular()

  // Guarded by the mutex.
  TurnOrder order_;
  KeptRecord record_;  ///< of the present node
  std::map<Number, StandIn> in_line_;
  Number last_in_line_ = 0;
  /// Stand-ins up to this number were listed before a newcomer of this client came.
  Number outrun_ = 0;
  bool closed_ = false;
  detail::LockNodePtr idle_;
  detail::LockNodePtr released_;  ///< waits for the listing
  // Of the present holder.
  std::uint64_t turns_ = 0;  ///< how many holders there have been
  std::uint64_t turns_seen_ = 0;
  Time seen_at_{};

  // The strand only.
  bool hears_newcomers_ = false;
  Tenure newest_ = 0;
  std::string node_path_;  ///< of the present node
  LocalQueuePtr listed_;  ///< this client's part of the queue that is being listed; null if none is
  /// Whether the second listing, which follows the deletes of the stand-ins, is to be made.
  bool listed_again_ = false;
  CancellationPtr listing_;       ///< identifies the present listing; other replies are ignored
  std::shared_ptr<Watch> watch_;  ///< the watch of the newest listing
};

using KeptLockPtr = std::shared_ptr<KeptLock>;

}  // namespace custodian::recipes_detail
