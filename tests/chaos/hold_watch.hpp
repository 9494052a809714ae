#pragma once

/// \file
/// HoldWatch records the events of one hold, from its grant to its release.

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "custodian/lease/lease.hpp"
#include "journal.hpp"

namespace custodian::chaos {

/// Neither copied nor moved, since a callback keeps its address.
class HoldWatch {
 public:
  /// Records the grant at the time `at`, and from then on each change of state, and the loss.
  HoldWatch(std::shared_ptr<const Journal> journal, std::int64_t id, Lease lease,
            BootClock::time_point at, std::int64_t session);
  HoldWatch(const HoldWatch&) = delete;
  HoldWatch& operator=(const HoldWatch&) = delete;

  [[nodiscard]] const Lease& lease() const noexcept { return lease_; }
  [[nodiscard]] std::int64_t id() const noexcept { return id_; }
  /// Records the release, and then releases.
  void release();

 private:
  struct NoteLoss {
    std::shared_ptr<const Journal> journal;
    std::int64_t id;
    void operator()() const { journal->note("lost " + std::to_string(id)); }
  };

  std::shared_ptr<const Journal> journal_;
  std::int64_t id_;
  Lease lease_;
  Subscription states_;
  std::optional<std::stop_callback<NoteLoss>> loss_;
};

}  // namespace custodian::chaos
