#pragma once

/// \file
/// MovingHold owns the leases of one claim on a moving map, at the claim's present homes, and ends
/// them together.

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/ensembles/moving_lease.hpp"

namespace custodian::recipes_detail {

/// Threads: any. Before grant(), it owns the leases that an acquire has got so far.
class MovingHold : public std::enable_shared_from_this<MovingHold> {
 public:
  /// `on_change` is called on any thread, when a lease was lost and when the hold was released.
  MovingHold(Client home, std::function<void()> on_change)
      : home_{std::move(home)}, on_change_{std::move(on_change)} {}

  /// The client on whose strand the claim runs. In a forked child only this function may be called.
  [[nodiscard]] const Client& home() const noexcept { return home_; }

  // Called by the claim.
  /// Adds a lease, unless the lease is lost already, or the hold was released.
  void add(const std::string& home, Lease lease);
  /// Releases a home's lease that the path does not need any more. If any lease is lost by then,
  /// the hold is lost, and nothing is released.
  void drop(const std::string& home);
  /// For an acquire: drops the leases that are lost. Returns whether there were any.
  bool drop_lost();
  /// The homes whose leases are not lost.
  [[nodiscard]] std::vector<std::string> held_at() const;
  /// The token of the lease at this home.
  [[nodiscard]] FencingToken token_at(const std::string& home) const;
  /// Makes the acquire a hold. Returns false if one of its leases is lost.
  [[nodiscard]] bool grant(FencingToken token);
  /// Marks the hold as lost, whatever its leases are. Returns false if it was not held any more.
  /// After true, the caller has to call notify_lost().
  [[nodiscard]] bool note_lost();
  void notify_lost() { lost_.request_stop(); }
  /// Whether the hold is lost or released.
  [[nodiscard]] bool is_over() const;

  // Called by the user's lease.
  void release() noexcept;
  [[nodiscard]] LeaseState state() const noexcept;
  [[nodiscard]] std::chrono::nanoseconds remaining() const noexcept;
  [[nodiscard]] std::stop_token lost() const noexcept { return lost_.get_token(); }
  [[nodiscard]] FencingToken token() const noexcept;
  [[nodiscard]] std::vector<std::string> homes() const;
  [[nodiscard]] TransactionOperation check(std::string_view home) const;

 private:
  enum class Phase { acquiring, held, lost, released };
  struct Share {
    std::string home;
    std::size_t number;
    Lease lease;
  };

  void on_loss(std::size_t number);
  /// Called with the mutex locked. Marks the hold as lost if a lease is lost and its callback has
  /// not come yet, so that later calls agree.
  Phase phase_now() const;
  [[nodiscard]] bool has_lost() const;

  const Client home_;
  const std::function<void()> on_change_;
  std::stop_source lost_;
  /// The loss callbacks of all leases, also of dropped ones. They are kept to the end, because
  /// destroying a callback would wait for a call that is under way. Each call keeps this object
  /// alive. Used by the claim only.
  std::deque<std::stop_callback<std::function<void()>>> ears_;

  mutable std::mutex mutex_;  ///< guards what follows
  mutable Phase phase_ = Phase::acquiring;
  std::vector<Share> shares_;
  std::size_t next_number_ = 0;
  FencingToken token_{};
};

}  // namespace custodian::recipes_detail
