#pragma once

/// \file
/// Holder is one holder's tenure of the lock's node, which the holder's leases share. It has the
/// listeners for the state of the leases.

#include <atomic>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "base/state_broadcast.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/lease/revocation.hpp"
#include "lease/lock_node.hpp"

namespace custodian::detail {

/// A Holder's destructor, on any thread, releases the lock: the node goes to the next holder, or is
/// deleted.
class Holder : public std::enable_shared_from_this<Holder> {
 public:
  /// Called by LockNode::next_holder(), which numbers the holders of a node from 0.
  Holder(LockNodePtr node, std::int64_t number, std::int64_t czxid, Events events);
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder();

  // Called on any thread.
  [[nodiscard]] const LockNodePtr& node() const noexcept { return node_; }
  [[nodiscard]] const CorePtr& core() const noexcept { return node_->core(); }
  [[nodiscard]] FencingToken token() const noexcept { return token_; }
  [[nodiscard]] std::stop_token lost() const noexcept { return lost_.get_token(); }
  [[nodiscard]] Subscription listen(LeaseListener listener) {
    return states_.listen(std::move(listener));
  }
  [[nodiscard]] Subscription make_revocable(RevocationListener listener);
  /// The number of leases that share this holder.
  std::atomic<int> leases = 0;

  // Called on the strand only.
  void wait(LeaseState known, const CancellationPtr& cancellation, Handler<LeaseState> handler);
  /// Notifies the listeners and the waiters of the node's state, if it is new to them.
  void tell(LeaseState now);
  /// A client has asked for the lock, by this transaction: notifies each listener once.
  void tell_revocation(std::int64_t transaction);

 private:
  void tell_lost();
  void observe_loss(LossReason reason) const;
  void observe_release() const;

  LockNodePtr node_;
  const Events events_;
  const FencingToken token_;
  /// When the hold began; not set without an observer.
  const BootClock::time_point since_;
  std::stop_source lost_;

  // Used on the strand only.
  struct Revocable {
    std::weak_ptr<RevocationListener> listener;
    std::int64_t told = 0;  ///< the transaction of the last request that it was notified of
  };
  std::vector<Revocable> revocables_;

  StateBroadcast<LeaseState> states_{LeaseState::held};
};

}  // namespace custodian::detail
