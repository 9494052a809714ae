#pragma once

/// \file
/// To ask a holder to let go, as Apache Curator does it: whoever wants a lock writes a message into
/// the holder's node, and a holder who listens (Lease::make_revocable()) is told. It is a request,
/// and takes nothing away.

#include <functional>
#include <string_view>

namespace custodian {

/// What a node's data are then.
inline constexpr std::string_view revoke_message = "__REVOKE__";

/// Called on the client's callback executor. May release the lease.
using RevocationListener = std::function<void()>;

}  // namespace custodian
