#pragma once

/// \file
/// What the leases of one lock share: the node, the session that it stands on, and what has become
/// of it.

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "client_core.hpp"
#include "client_session.hpp"
#include "custodian/lease.hpp"
#include "custodian/revocation.hpp"
#include "state_waiters.hpp"

namespace custodian::detail {

/// Its destruction, on any thread, releases.
class Hold : public std::enable_shared_from_this<Hold> {
 public:
  using Time = BootClock::time_point;

  /// On the strand.
  static HoldPtr make(std::shared_ptr<ClientCore> core, std::shared_ptr<ClientSession> session,
                      OwnNode node, const LeaseOptions& options);
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold();

  // Any thread.
  [[nodiscard]] const std::shared_ptr<ClientCore>& core() const noexcept { return core_; }
  [[nodiscard]] const std::string& node() const noexcept { return node_.path(); }
  [[nodiscard]] const std::string& full_path() const noexcept { return full_path_; }
  [[nodiscard]] FencingToken token() const noexcept;
  [[nodiscard]] LeaseState state() noexcept;
  [[nodiscard]] LossReason loss_reason() noexcept;
  /// As is known by now, without a look at the clock.
  [[nodiscard]] bool is_lost() const noexcept { return loss_ != LossReason::none; }
  [[nodiscard]] Time valid_until() const noexcept;
  [[nodiscard]] std::stop_token lost() const noexcept { return lost_.get_token(); }
  [[nodiscard]] Subscription listen(LeaseListener listener);
  [[nodiscard]] Subscription make_revocable(RevocationListener listener);
  /// How many leases share it.
  std::atomic<int> leases = 0;

  // The strand only.
  /// For ever; the first reason counts.
  void lose(LossReason reason);
  void on_session_state();
  /// A quorum was asked whether the node is there.
  void on_check_failed(const error_code& error);
  [[nodiscard]] bool is_checkable() const noexcept { return checkable_; }
  void wait(LeaseState known, const CancellationPtr& cancellation, Handler<LeaseState> handler);

 private:
  Hold(std::shared_ptr<ClientCore> core, std::shared_ptr<ClientSession> session, OwnNode node,
       const LeaseOptions& options);

  void wait_for_node();
  void look_at_node();
  void on_node(const error_code& error, const GetResult& found, Watch watch);
  void tell_revocation(const GetResult& found);
  void limit();
  void tell();
  void tell_lost();
  void delete_node();

  const std::shared_ptr<ClientCore> core_;
  const std::shared_ptr<ClientSession> session_;
  OwnNode node_;  ///< its watch: the strand only
  const std::string full_path_;
  const LossPolicy policy_;
  const Time ends_at_;  ///< by hold_at_most; `Time::max()` for never

  std::atomic<LossReason> loss_ = LossReason::none;
  std::stop_source lost_;

  // The strand only.
  LeaseState told_ = LeaseState::held;
  bool checkable_ = true;
  bool looking_ = false;
  CancellationPtr end_of_look_;
  struct Revocable {
    std::weak_ptr<RevocationListener> listener;
    std::int64_t told = 0;  ///< the transaction of the last request that it was told of
  };
  std::vector<Revocable> revocables_;
  StateWaiters<LeaseState> waiters_;
  std::unique_ptr<boost::asio::steady_timer> timer_;  ///< of a lease with a maximum time

  std::mutex mutex_;  ///< guards what follows
  std::vector<std::weak_ptr<LeaseListener>> listeners_;
};

}  // namespace custodian::detail
