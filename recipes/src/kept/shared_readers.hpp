#pragma once

/// \file
/// SharedReaders handles the readers of a client that share nodes of one read/write lock
/// (LockOptions::share_readers). ShareOrder decides which reader joins which node, and what becomes
/// of a released node. Each node is an ordinary acquire in the queue until it is granted the lock,
/// and from then on has a holder for each of its readers.

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kept/keeper.hpp"
#include "kept/kept_record.hpp"
#include "kept/local_waiters.hpp"
#include "kept/share_order.hpp"

namespace custodian::recipes_detail {

/// One for each client and key (kept_locks.hpp). Threads: any.
class SharedReaders final : public Keeper, public LocalWaiters {
 public:
  /// The readers of `spec`'s path and rule.
  SharedReaders(const LockSpec& spec, int most_readers, std::chrono::nanoseconds keep_idle_for);
  ~SharedReaders() override;

  /// Whether an acquire with these options may use a shared node.
  [[nodiscard]] static bool may_take(const AcquireOptions& options);
  /// Whether an acquire may wait here.
  [[nodiscard]] static bool may_enter(const WaitLimit& wait_limit, const AcquireOptions& options);

  /// A lease on the newest node; empty if no reader may join that node at once.
  [[nodiscard]] Lease take();
  /// Takes the newest node, or adds a waiter. The handler runs on any thread, or within this call.
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
  using Node = ShareOrder::Node;
  /// One of the nodes. Until it is granted the lock it is an acquire, which keeps this object
  /// alive; from then on it is held, or idle.
  struct Place {
    std::weak_ptr<Acquire> acquire;
    CancellationPtr end;
    detail::LockNodePtr node;
  };
  struct NewNode {
    Node number = 0;
    AcquirePtr acquire;
    CancellationPtr end;
  };
  /// What must be done after the mutex is unlocked.
  struct Errand {
    std::vector<Waiter> hold;
    detail::LockNodePtr held;  ///< the node of these readers
    std::vector<NewNode> create;
    bool list = false;
    std::vector<CancellationPtr> leave;
    std::vector<detail::LockNodePtr> gone;
    bool no_deadline_left = false;
  };

  [[nodiscard]] std::shared_ptr<SharedReaders> self() {
    return std::static_pointer_cast<SharedReaders>(shared_from_this());
  }
  [[nodiscard]] std::weak_ptr<SharedReaders> weak() { return self(); }

  // The caller holds the mutex.
  [[nodiscard]] detail::LockNodePtr join();
  /// Whether the newest node's lease lasts long enough for a reader that joins.
  [[nodiscard]] bool is_sound() const { return !newest_ || detail::may_be_passed_on(newest_); }
  [[nodiscard]] Errand begin_errand(const ShareOrder::Next& next);
  [[nodiscard]] NewNode make_node(Node number);
  [[nodiscard]] Waiter take_waiter(Id id, Errand& errand);

  void enter_line(Waiter waiter, const CancellationPtr& cancellation);
  void run(Errand errand);
  void give_up(Id id, error_code error) override;

  // Nodes on their way to the lock, and held ones.
  void on_sent(const AcquirePtr& acquire, Node number);
  void on_queued(Node number, std::string_view name);
  void on_acquired(Node number, error_code error, Lease lease);
  void on_failed(Lock lock, Node number, const error_code& error);
  void on_released(Node number, detail::LockNodePtr node);
  void retire(Node number, KeptLockEnd reason);

  // Is a writer behind the newest node? The strand only.
  void list();
  void list_soon();
  void on_listed(const error_code& error, std::vector<std::string> names);
  void wait_for_change();
  void on_changed(bool session_is_over);
  void on_newcomer(ContenderKind kind) override;

  const std::weak_ptr<CorePtr::element_type> core_;
  const std::string path_;
  const NamingRule rule_;
  const std::chrono::nanoseconds keep_idle_for_;

  /// Whether the queue has changed. Set without the mutex, for which the strand may have to wait
  /// long while callers lock it in a tight loop.
  std::atomic<bool> changed_ = false;
  std::atomic<bool> is_popular_ = false;  ///< see is_popular()

  // Guarded by the mutex.
  ShareOrder order_;
  KeptRecord record_;  ///< of the newest node that was granted the lock
  std::map<Node, Place> places_;
  detail::LockNodePtr newest_;  ///< the node that may be joined at once; null if there is none
  bool closed_ = false;

  // The strand only.
  bool hears_newcomers_ = false;
  CancellationPtr listing_;       ///< identifies the present listing; other replies are ignored
  std::shared_ptr<Watch> watch_;  ///< the watch of the newest listing
  std::uint64_t listed_on_ = 0;   ///< the connection of that listing
  Time listed_at_{};
  std::unique_ptr<boost::asio::steady_timer> pause_;  ///< before the next listing
};

using SharedReadersPtr = std::shared_ptr<SharedReaders>;

}  // namespace custodian::recipes_detail
