#pragma once

/// \file
/// HandleState is a C client's handle's report of its connection.

namespace custodian::detail {

/// As of the end of the newest call into the library.
enum class HandleState {
  disconnected,
  connecting,  ///< to an address that has not accepted yet
  greeting,    ///< the handshake is sent, and not answered yet
  connected,
  expired,
  auth_failed,
};

}  // namespace custodian::detail
