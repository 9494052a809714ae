#pragma once

/// \file
/// HandleState is the state of a C client handle's connection.

namespace custodian::detail {

/// The state at the end of the newest call into the C client.
enum class HandleState {
  disconnected,
  connecting,  ///< to an address that has not accepted yet
  greeting,    ///< the handshake is sent, and not answered yet
  connected,
  expired,
  auth_failed,
};

}  // namespace custodian::detail
