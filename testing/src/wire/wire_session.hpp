#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "wire/deadline_socket.hpp"

namespace custodian::testing {

/// WireSession is a ZooKeeper session over a plain socket, with the few requests that the harness
/// and its tests need. It sends no pings. Destroying it only disconnects: the session lives on.
class WireSession {
 public:
  static constexpr std::chrono::seconds usual_patience{10};

  /// Begins a new session.
  WireSession(const ServerEndpoint& endpoint, std::chrono::milliseconds timeout);
  /// Opens another connection to a session. Check `expired()` afterwards. `patience` is for each
  /// answer.
  WireSession(const ServerEndpoint& endpoint, std::int64_t id, std::string_view password,
              std::chrono::milliseconds patience = usual_patience);

  [[nodiscard]] std::int64_t id() const { return id_; }
  [[nodiscard]] const std::string& password() const { return password_; }
  [[nodiscard]] std::chrono::milliseconds timeout() const { return timeout_; }
  /// Whether the server does not know the session (any more), or the password is wrong.
  [[nodiscard]] bool expired() const { return id_ == 0; }

  /// Creates a node with an open ACL; flags: 1 ephemeral. Returns the server's error code.
  std::int32_t create(std::string_view path, std::string_view data, std::int32_t flags = 0);
  /// Returns the server's error code: 0, or -101 if the node does not exist.
  std::int32_t exists(std::string_view path);
  std::int32_t watch(std::string_view path);
  /// Adds members to the ensemble ("server.4=...", ...) and removes others ("1,2"). Returns the
  /// server's error code. The server's skipACL=yes, or a superuser, permits it.
  std::int32_t reconfigure(std::string_view joining, std::string_view leaving);
  void close();

 private:
  void handshake(std::chrono::milliseconds timeout);
  std::int32_t request(std::int32_t type, std::string_view body);

  const std::chrono::milliseconds patience_;
  DeadlineSocket socket_;
  std::int64_t id_ = 0;
  std::string password_;
  std::chrono::milliseconds timeout_{0};
  std::int32_t last_xid_ = 0;
};

}  // namespace custodian::testing
