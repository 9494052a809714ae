#pragma once

/// \file
/// Group shares are the locks that an acquire of several locks holds so far, and their release.

#include <boost/asio/awaitable.hpp>
#include <string>
#include <vector>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/deadline.hpp"
#include "lock_sets/custom_acquisition.hpp"

namespace custodian::recipes_detail {

/// One acquired lock: its leases, or a custom lock.
struct Share {
  std::string path;
  std::vector<Lease> leases;
  HeldCustomPtr custom{};
  bool counts = true;  ///< false if the lock was lost by the end of the pass

  /// Why the share is lost; no error while it is held.
  [[nodiscard]] error_code loss() const;
};

/// Releases all shares, the last one first. The last custom lock, and all locks before it, are
/// released on the callback executor. The coroutine ends when all are released. At the limit, or
/// when the acquire is given up, it waits only a moment longer, because the callback executor may
/// be blocked. The rest is then released, in the same order, when that executor runs again. Called
/// on the strand only. `home` must outlive the coroutine.
[[nodiscard]] boost::asio::awaitable<void> release_in_reverse(const Client& home,
                                                              std::vector<Share> shares,
                                                              Deadline limit,
                                                              CancellationPtr give_up);

}  // namespace custodian::recipes_detail
