#pragma once

/// \file
/// Group shares are the locks that an acquire of several has acquired so far, with their release.

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
  bool counts = true;  ///< false: it was lost by the end of the pass

  [[nodiscard]] error_code loss() const;
};

/// Releases all, the last one first: from the last custom lock on, the callback executor does it.
/// Ends when all are released. At the limit, or when the acquire is given up, it waits a moment
/// longer and no more: the callback executor may stand still. The rest is then released, in the
/// same order, when that executor runs again. Strand only; the caller awaits it, and its client
/// outlives that.
[[nodiscard]] boost::asio::awaitable<void> release_in_reverse(const Client& home,
                                                              std::vector<Share> shares,
                                                              Deadline limit,
                                                              CancellationPtr give_up);

}  // namespace custodian::recipes_detail
