#pragma once

/// \file
/// SecureLink stands between the C client, which speaks plain ZooKeeper into a socket of its own,
/// and a server that expects more: TLS, an authentication by SASL, or both.

#include <functional>
#include <string>
#include <string_view>

#include "custodian/error.hpp"
#include "session/owned_socket.hpp"

namespace custodian::detail {

/// One connection. Used on the strand only. An opened link is kept alive by its own handlers, and
/// ends by itself: when the server has ended the connection, the C client reads what is left and
/// then the end; when the C client has closed its socket, the server gets what is left and then the
/// end. If the server takes nothing more, the link waits for it until the link is aborted.
class SecureLink {
 public:
  /// Called with an error and its reason in words, or with the C client's end of the pair of
  /// sockets.
  using Opened = std::function<void(error_code, std::string reason, OwnedSocket)>;
  /// Whether the C client may read this frame, which the pair of sockets cannot hold.
  using Judge = std::function<bool(std::string_view frame)>;

  virtual ~SecureLink() = default;
  SecureLink() = default;
  SecureLink(const SecureLink&) = delete;
  SecureLink& operator=(const SecureLink&) = delete;

  /// Verifies the server, and begins to pass bytes on. Calls `opened` once, not within this call,
  /// unless the link is aborted.
  virtual void open(Opened opened) = 0;
  /// What the link waits for, in words for people; empty while it passes bytes on.
  [[nodiscard]] virtual std::string waits_for() const = 0;
  /// Sets the judge of long frames. Without a judge, no frame is refused.
  virtual void set_judge(Judge judge) = 0;
  /// Ends the connection at once. Bytes that were not sent yet are dropped: a request that the
  /// client has given up must not arrive later. In the child of a fork, closes the child's copies
  /// only.
  virtual void abort() = 0;
  /// Why TLS or SASL ended the connection, beginning with its name; empty if neither did.
  [[nodiscard]] virtual const std::string& fault() const noexcept = 0;
  /// What SASL has still to prove once a server has begun or continued a session.
  enum class Proof {
    none_needed,  ///< nothing: there is no session yet, or it is authenticated, or there is no SASL
    wanted,       ///< the exchange is under way, or the connection has ended within it
    failed,       ///< the exchange has failed, so the link has ended the connection
    refused  ///< the server refuses the client's identity, so the link has ended the connection
  };
  [[nodiscard]] virtual Proof proof() const noexcept = 0;
};

}  // namespace custodian::detail
