#pragma once

/// \file
/// PermitSource is what all handles on one RateLimiter share: the permits in memory, the write that
/// takes more of them from the servers, and the calls that wait. Strand only, but for its
/// construction and destruction.

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>

#include "atomics/atomic_node.hpp"
#include "atomics/permit_stock.hpp"
#include "custodian/atomics/rate_limiter.hpp"
#include "custodian/authoring/event.hpp"
#include "custodian/authoring/result.hpp"

namespace custodian::recipes_detail {

/// How long a call waits for its permits to be due.
struct Patience {
  enum class Kind : std::uint8_t { endless, none, limited } kind = Kind::endless;
  /// For `limited`, the deadline for the permits; for `none`, the deadline for the servers' answer.
  Deadline limit = Deadline::never();
};

class PermitSource : public std::enable_shared_from_this<PermitSource> {
 public:
  PermitSource(AtomicNodePtr node, RateLimit limit, std::chrono::nanoseconds interval);

  /// Takes permits, and waits until they are due; false if they are not due in time. `self` is this
  /// object.
  [[nodiscard]] static boost::asio::awaitable<Result<bool>> acquire(PermitSourcePtr self,
                                                                    CancellationPtr cancellation,
                                                                    std::int64_t permits,
                                                                    Patience patience);
  /// Ends all waits: the client admits no new calls any more.
  void end_waits();

  [[nodiscard]] const Client& client() const noexcept { return node_->value->client; }
  [[nodiscard]] const std::string& path() const noexcept { return node_->value->path; }
  /// The time that one permit is worth.
  [[nodiscard]] std::chrono::nanoseconds interval() const noexcept { return interval_; }

 private:
  class Place;

  /// What is to be taken from the servers.
  struct Wish {
    std::int64_t permits = 1;
    /// The call needs a permit that is due `behind` after the first one of the write. If that
    /// permit is due after `in_time`, the write takes nothing.
    Deadline in_time = Deadline::never();
    std::chrono::nanoseconds behind{0};
  };
  /// Ensures that a write is under way that takes permits from the servers, for a call that needs
  /// `permits` of them until `in_time`.
  void fetch(std::int64_t permits, Deadline in_time);
  [[nodiscard]] static boost::asio::awaitable<void> take_chunk(PermitSourcePtr self, Wish wish);
  /// Notes from when on the servers have permits.
  void learn(PermitStock::Time next_due);
  /// Whether a recent write has shown that so many permits are not due in time.
  [[nodiscard]] bool are_known_to_be_late(std::int64_t permits, Deadline in_time) const;
  /// The time between the first permit that is not in memory and the last one that the call needs.
  [[nodiscard]] std::chrono::nanoseconds behind_the_first(std::int64_t permits) const {
    return std::max<std::int64_t>(0, permits - stock_.count() - 1) * interval_;
  }
  void end_fetch(error_code error);
  void enroll();
  [[nodiscard]] static boost::asio::awaitable<error_code> wait_until_due(
      PermitSourcePtr self, CancellationPtr cancellation, PermitStock::Taken taken);

  const AtomicNodePtr node_;
  const std::chrono::nanoseconds burst_;
  const std::chrono::nanoseconds interval_;
  const std::int64_t chunk_;
  PermitStock stock_;
  /// The earliest time at which the servers' next permit is due.
  PermitStock::Time next_due_{};
  /// Until when `next_due_` is relied on.
  PermitStock::Time known_until_ = PermitStock::Time::min();
  std::list<const Place*> line_;
  bool is_enrolled_ = false;
  bool is_fetching_ = false;
  std::uint64_t fetches_ = 0;      ///< the number of fetches that have begun
  std::uint64_t last_failed_ = 0;  ///< which fetch was the last to fail, counted from 1
  error_code last_failure_{};
  AsyncEvent moved_;    ///< notifies the calls in the line
  AsyncEvent closing_;  ///< notifies the calls whose permits are not due yet
};

}  // namespace custodian::recipes_detail
