#pragma once

/// \file
/// Holding is what a command runs under: leases, of which none may be lost.

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <stop_token>
#include <vector>

#include "custodian/lease/lease.hpp"
#include "custodian/session/session.hpp"

namespace custodian::cli {

/// What the end of the maximum time does with the lock.
enum class AtMaximum : std::uint8_t {
  passes_on,  ///< at once
  waits,  ///< it waits it waits it waits for end(), but not for long: the command is being ended
};

/// Threads: the executor's, one at a time. Lifetimes: the destructor releases what is held, and no
/// loss is reported after it.
class Holding {
 public:
  /// Called for a lease that is lost; on the executor, perhaps after end().
  using LossListener = std::function<void(LossReason)>;

  Holding(boost::asio::any_io_executor executor, AtMaximum at_maximum, LossListener listener);

  /// Requires that nothing is held yet.
  void begin(std::vector<Lease> leases);
  /// Releases all.
  void end();

  [[nodiscard]] bool is_empty() const noexcept { return held_.empty(); }
  /// Requires a lease.
  [[nodiscard]] const Lease& first() const { return held_.front().lease; }
  /// The reason of the first loss; none if all are held.
  [[nodiscard]] LossReason lost_reason() const;
  /// Until when all are held at the least.
  [[nodiscard]] BootClock::time_point until() const;

 private:
  /// A lease, and the subscription to its loss.
  struct Held {
    Lease lease;
    std::unique_ptr<std::stop_callback<std::function<void()>>> on_lost;
  };

  boost::asio::any_io_executor executor_;
  AtMaximum at_maximum_;
  std::shared_ptr<const LossListener> listener_;
  std::list<Held> held_;
  std::promise<void> ended_;
};

}  // namespace custodian::cli
