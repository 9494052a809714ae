#pragma once

/// \file
/// present_session() returns the session for a request whose meaning depends on the session:
/// because an ephemeral node is the request's witness, or because a later read must not be older
/// than the request.

#include <boost/asio/awaitable.hpp>
#include <cstdint>

#include "custodian/authoring/result.hpp"
#include "custodian/client.hpp"

namespace custodian::recipes_detail {

/// The id of the client's session. Without a connection the client waits for one first, which may
/// bring another session. Strand only.
[[nodiscard]] boost::asio::awaitable<Result<std::int64_t>> present_session(
    const Client& client, CancellationPtr cancellation, OperationOptions options);

}  // namespace custodian::recipes_detail
