#pragma once

/// \file
/// FreshLook reads a node's present state, even if the client's server lags behind.

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "custodian/authoring/follow.hpp"
#include "custodian/client.hpp"

namespace custodian::recipes_detail {

/// Looks at one node several times. No look shows a state from before the call of the first one.
/// The first look of each session waits until its server has caught up, which costs one more
/// request; from then on no server shows the session an earlier state than the session has seen.
///
/// A variable of a coroutine on the client's strand; one look at a time.
class FreshLook {
 public:
  FreshLook(const Client& client, std::string path, CancellationPtr cancellation,
            OperationOptions options);

  /// The node's metadata, or nothing if there is no node; a missing node is never watched. Errors:
  /// those common to all operations.
  [[nodiscard]] boost::asio::awaitable<Result<Watched<std::optional<Stat>>>> take(
      Watching watching);

 private:
  const Client client_;
  const std::string path_;
  const CancellationPtr cancellation_;
  const OperationOptions options_;
  std::int64_t caught_up_in_ = 0;  ///< the id of a session
};

}  // namespace custodian::recipes_detail
