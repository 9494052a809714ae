#pragma once

/// \file
/// To ask a holder to let go, as Apache Curator does it: whoever wants a lock writes a message into
/// the holder's node, and a holder who listens (Lease::make_revocable()) is told. It is a request,
/// and takes nothing away.
///
/// The message replaces the holder's identity, which are the node's data. A holder of this library
/// that sees the message writes its identity back. The node's version then goes on saying that
/// there was a request: nobody else writes into the node of a contender.

#include <functional>
#include <string_view>

#include "custodian/node.hpp"

namespace custodian {

/// What a node's data are then, until its holder writes the identity back.
inline constexpr std::string_view revoke_message = "__REVOKE__";

/// Whether somebody has asked the contender for its lock, or its place, as far as its node tells.
[[nodiscard]] inline bool is_asked(const GetResult& contender) noexcept {
  return contender.data == revoke_message || contender.stat.version > 0;
}

/// Called on the client's callback executor. May release the lease.
using RevocationListener = std::function<void()>;

}  // namespace custodian
