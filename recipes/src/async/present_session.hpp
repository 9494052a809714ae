#pragma once

/// \file
/// present_session() is the session in which a request is sent whose meaning depends on it: it has
/// an ephemeral node as its witness, or what is read after it must not be older.

#include <boost/asio/awaitable.hpp>
#include <cstdint>

#include "custodian/authoring/result.hpp"
#include "custodian/client.hpp"

namespace custodian::recipes_detail {

/// The id of the client's session. A client without a connection waits for one first, which may
/// bring another session. Strand only.
[[nodiscard]] boost::asio::awaitable<Result<std::int64_t>> present_session(
    const Client& client, CancellationPtr cancellation, OperationOptions options);

}  // namespace custodian::recipes_detail
