#pragma once

/// \file
/// A revocation asks a holder to release, as Apache Curator does it: a client that wants a lock
/// writes a message into the holder's node, and a holder that listens (Lease::make_revocable()) is
/// notified. It is a request, and takes nothing away.
///
/// The message replaces the holder's identity, which is the node's data. A holder of this library
/// that sees the message writes its identity back, and leaves the node with an odd version, which
/// records that there was a request. A change of the identity by its holder (Lease::set_identity())
/// leaves the version odd or even as it was.

#include <functional>
#include <string_view>

#include "custodian/node.hpp"

namespace custodian {

/// The message: a node's data after a request, until its holder writes the identity back.
inline constexpr std::string_view revoke_message = "__REVOKE__";

/// Whether a client has asked the contender to give up its lock, or its place in the queue, as far
/// as its node shows.
[[nodiscard]] inline bool is_asked(const GetResult& contender) noexcept {
  return contender.data == revoke_message || contender.stat.version % 2 != 0;
}

/// Called on the client's callback executor. May release the lease.
using RevocationListener = std::function<void()>;

}  // namespace custodian
