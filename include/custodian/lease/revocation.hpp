#pragma once

/// \file
/// A revocation asks a holder to release its lock, in the way of Apache Curator: a client that
/// wants the lock writes a message into the holder's node, and a holder that listens
/// (Lease::make_revocable()) is notified. A revocation is a request, and takes nothing away.
///
/// The message replaces the holder's identity, which is the node's data. A holder of this library
/// that sees the message writes its identity back, and leaves the node with an odd version, which
/// records that there was a request. A change of the identity by its holder (Lease::set_identity())
/// leaves the version odd or even as it was.

#include <functional>
#include <string_view>

#include "custodian/node.hpp"

namespace custodian {

/// The data that a revocation writes into a holder's node. These data stay until the holder writes
/// its identity back.
inline constexpr std::string_view revoke_message = "__REVOKE__";

/// Whether the contender's node shows that a client has asked the contender to give up its lock, or
/// its place in the queue.
[[nodiscard]] inline bool is_asked(const GetResult& contender) noexcept {
  return contender.data == revoke_message || contender.stat.version % 2 != 0;
}

/// Called when a client has asked for the lock, on the client's callback executor. May release the
/// lease.
using RevocationListener = std::function<void()>;

}  // namespace custodian
