#pragma once

/// \file
/// Permits that belong to an object, and to no thread: any thread may give them back.

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/lease.hpp"

namespace custodian::recipes_detail {

/// Threads: any.
class PermitPool {
 public:
  /// False if there are none to put.
  bool put(std::vector<Lease> leases);
  /// Gives back so many, the oldest first. Throws Error (operation_not_permitted), and releases
  /// nothing, if there are fewer.
  void release(std::ptrdiff_t permits, std::string_view operation, const std::string& path);
  /// Shares the youngest; empty if there is none.
  [[nodiscard]] Lease youngest() const;

 private:
  mutable std::mutex mutex_;
  std::deque<Lease> leases_;
};

}  // namespace custodian::recipes_detail
