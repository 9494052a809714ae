#pragma once

/// \file
/// LockNode is the node by which a lock is held. It decides whether its lease is still good: the
/// session may end, another client may delete the node, and the maximum time may be up. Its holders
/// follow each other, or share the node; mostly there is one.

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/boot_timers.hpp"
#include "client/client_core.hpp"
#include "client/client_session.hpp"
#include "custodian/lease/lease.hpp"

namespace custodian::detail {

/// The changes of a node's data that are under way; each is woken when its turn has come.
using ChangeLine = std::deque<CancellationPtr>;
using ChangeLinePtr = std::shared_ptr<ChangeLine>;

/// A LockNode's destructor, on any thread, deletes the node.
class LockNode final : public SessionLease, public std::enable_shared_from_this<LockNode> {
 public:
  using Time = BootClock::time_point;

  /// Called on the strand only.
  static LockNodePtr make(CorePtr core, std::shared_ptr<ClientSession> session, OwnedNode node,
                          NodeData data, const LeaseOptions& options, ObservedLockPtr observed);
  ~LockNode() override;

  // Called on any thread.
  [[nodiscard]] const CorePtr& core() const noexcept { return core_; }
  [[nodiscard]] const std::string& path() const noexcept { return node_.path(); }
  [[nodiscard]] const std::string& full_path() const noexcept override { return full_path_; }
  [[nodiscard]] LeaseState state() noexcept;
  [[nodiscard]] LossReason loss_reason() noexcept;
  [[nodiscard]] bool is_lost() const noexcept override { return loss_ != LossReason::none; }
  [[nodiscard]] Time valid_until() const noexcept;
  /// The name of the node's leases in an observer's events; null without an observer.
  [[nodiscard]] const ObservedLockPtr& observed() const noexcept { return observed_; }
  /// See detail::end_passing().
  void end_passing() override;
  [[nodiscard]] bool has_passing_ended() const noexcept { return passing_has_ended_ || is_lost(); }
  [[nodiscard]] bool is_idle() const noexcept override { return idle_; }
  void set_idle(bool idle) noexcept;

  // Makes the next holder of the node, which is notified of the node's state from now on. Others
  // may hold the node at the same time. Called on any thread.
  [[nodiscard]] HolderPtr next_holder(Events events);
  /// Whether a new holder would have time to work, and to be notified of a loss.
  [[nodiscard]] bool may_be_passed_on() noexcept;
  void set_pass_on(PassOn pass_on, PassingEnded passing_ended) {
    pass_on_ = std::make_shared<PassOn>(std::move(pass_on));
    passing_ended_ = std::move(passing_ended);
    if (passing_has_ended_ && passing_ended_) passing_ended_();
  }
  /// The function that gets the node when its holder releases it; null if the node is deleted then.
  [[nodiscard]] const std::shared_ptr<PassOn>& pass_on() const noexcept { return pass_on_; }

  // Called on the strand only.
  void lose(LossReason reason) override;
  void on_session_state() override;
  void on_check_failed(const error_code& error) override;
  [[nodiscard]] bool is_checkable() const noexcept override { return checkable_; }
  /// Reads the node with a watch, and notifies the holder if a client has asked for the lock.
  void look();
  /// From now on, a watch notices the node's deletion by another client, and not only a beat.
  void watch();
  /// The line of the node's changes; made at the first use.
  [[nodiscard]] const ChangeLinePtr& changes();
  /// The holder has written these data into the node. They are written back when a request to
  /// release the lock has replaced them.
  void on_changed(std::string data) {
    maybe_.reset();
    data_ = std::make_shared<const std::string>(std::move(data));
  }
  /// The holder may have written these data: the outcome is unknown, and another read decides.
  void on_maybe_changed(std::string data) {
    maybe_ = std::make_shared<const std::string>(std::move(data));
    look();
  }
  /// The holder has been notified of the loss.
  void on_holder_told();

 private:
  LockNode(CorePtr core, std::shared_ptr<ClientSession> session, OwnedNode node, NodeData data,
           const LeaseOptions& options, ObservedLockPtr observed);

  /// All present holders.
  [[nodiscard]] std::vector<HolderPtr> holders() const;
  void wait_for_event();
  void on_look(const error_code& error, const GetResult& found, Watch watch);
  void restore_data(std::int32_t version);
  void on_data_restored(const error_code& error);
  void limit();
  void tell();
  void on_lost();
  void delete_node();

  const CorePtr core_;
  const std::shared_ptr<ClientSession> session_;
  OwnedNode node_;  ///< its watch is used on the strand only
  NodeData data_;   ///< as last written by its holder
  const std::string full_path_;
  const LossPolicy policy_;
  const Time ends_at_;  ///< by hold_at_most; `Time::max()` for never
  const ObservedLockPtr observed_;
  std::shared_ptr<PassOn> pass_on_;
  PassingEnded passing_ended_;  ///< called on the strand only

  std::atomic<LossReason> loss_ = LossReason::none;
  std::atomic<bool> passing_has_ended_ = false;
  std::atomic<bool> idle_ = false;
  std::atomic<std::int64_t> holds_ = 0;  ///< the number of holders so far

  // Used on the strand only.
  bool loss_told_ = false;
  bool checkable_ = true;
  bool looking_ = false;
  std::int64_t request_ = 0;  ///< the transaction of the last request to release it; 0: none
  NodeData maybe_;            ///< the data that its holder may have written; null: nothing in doubt
  bool restoring_ = false;
  bool restorable_ = true;
  CancellationPtr end_of_look_;  ///< ends the reads, and the writing back of the data
  ChangeLinePtr changes_;
  std::unique_ptr<BootTimer> timer_;  ///< of a lease with a maximum time

  mutable std::mutex mutex_;  ///< guards what follows
  std::weak_ptr<Holder> newest_;
  std::vector<std::weak_ptr<Holder>> earlier_;  ///< the holders before `newest_`
};

}  // namespace custodian::detail
