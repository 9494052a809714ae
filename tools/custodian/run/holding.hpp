#pragma once

/// \file
/// Holding has the leases that a command runs under. The loss of any of them counts as the loss of
/// all.

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

/// What happens to the lock at the end of the maximum time.
enum class AtMaximum : std::uint8_t {
  passes_on,  ///< the lock passes on at once
  waits,      ///< the lock waits briefly for end(), since the command is being ended
};

/// Threads: the executor's, one at a time. The destructor releases the leases, and no loss is
/// reported after it.
class Holding {
 public:
  /// Called on the executor for each lost lease, possibly after end().
  using LossListener = std::function<void(LossReason)>;

  Holding(boost::asio::any_io_executor executor, AtMaximum at_maximum, LossListener listener);

  /// Takes the leases over. No lease may be held yet.
  void begin(std::vector<Lease> leases);
  /// Releases all leases.
  void end();

  [[nodiscard]] bool is_empty() const noexcept { return held_.empty(); }
  /// The first lease. There must be one.
  [[nodiscard]] const Lease& first() const { return held_.front().lease; }
  /// The loss reason of the first lease that is lost; LossReason::none if all are held.
  [[nodiscard]] LossReason lost_reason() const;
  /// The time until which all leases are certainly held.
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
