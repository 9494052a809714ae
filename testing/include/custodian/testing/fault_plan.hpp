#pragma once

/// \file
/// FaultPlan decides what goes wrong, and when: it is asked for each request that a session of a
/// `FakeEnsemble` sends.

#include <cstddef>
#include <string>

#include "custodian/session/session.hpp"

namespace custodian::testing {

/// What becomes of a request.
enum class FaultKind {
  /// The request is answered.
  pass,
  /// The connection is cut before the server sees the request: `connection_loss`.
  fail_before,
  /// The server applies the request, and the connection is cut before the reply: `connection_loss`.
  fail_after,
  /// The connection is cut before the server sees the request: `connection_loss`. The server sees
  /// the request later, as a request of the earlier connection, and applies it if the session is
  /// alive then. Servers with Netty connections do that, a few requests later; and a request in the
  /// network may reach a server after its client has given up the session.
  apply_late,
  /// The connection was cut before the request could be sent: `not_connected`.
  disconnect,
  /// The servers end the session before they see the request. The client learns of the end as it
  /// would from real servers: its connection is cut, and the answer on its next connection is that
  /// the session has expired.
  expire_before,
  /// The servers apply the request, and then end the session as with `expire_before`.
  expire_after,
  /// The reply, and every later message on the connection, is held back.
  delay,
  /// The server refuses the request for now, and has done nothing: `throttled`.
  throttle,
};
/// The name of the enumerator.
[[nodiscard]] std::string_view to_string(FaultKind kind) noexcept;

/// Whether replies that the server sent before the cut of a connection arrive.
enum class EarlierReplies { arrive, are_lost };

/// Whether the next server of a session, after a cut, is up to date.
enum class NextServer {
  /// The server is up to date.
  current,
  /// The server has every change of all sessions up to the fault, and no later ones: its reads do
  /// not show the change that the lost request made. It catches up before it answers a write or a
  /// sync of this session, or by itself after `FakeEnsembleOptions::longest_lag`.
  /// FakeEnsemble::leave_server_behind() makes a server that has missed changes before the fault.
  lags_behind,
};

/// Whether a session's watches are restored on its next connection.
enum class NextWatches {
  /// The watches are restored: events missed meanwhile are delivered at once on the new connection.
  are_restored,
  /// The watches end at the cut, with `data_changed` or `children_changed`, since something may
  /// have changed. Real watches end like this if there are too many to be restored at once.
  are_dropped,
};

/// What goes wrong with one request.
struct Fault {
  /// What becomes of the request.
  FaultKind kind = FaultKind::pass;
  /// For a fault that cuts the connection: whether earlier replies arrive.
  EarlierReplies earlier = EarlierReplies::arrive;
  /// For a fault that cuts the connection: which server the next connection leads to.
  NextServer next_server = NextServer::current;
  /// For a fault that cuts the connection: what becomes of the watches.
  NextWatches next_watches = NextWatches::are_restored;
  /// For `delay`: how many turns of the executor the delay lasts; 0: until
  /// `FakeEnsemble::release_replies()`.
  int turns = 0;
  /// For `apply_late`: after how many further requests of the session the request is applied; 0:
  /// when `FakeEnsemble::apply_late_requests()` is called.
  int requests_later = 0;
};

/// A request on its way.
struct Submission {
  std::string client;     ///< the name that was given to `FakeEnsemble::session_factory()`
  std::size_t index = 0;  ///< how many requests its session had sent before
  std::string kind;       ///< "create", "remove", "exists", "get", "set", "children", "get_acl",
                          ///< "set_acl", "sync" or "multi"
  std::string path;       ///< empty for a multi
};

/// Decides what becomes of each request; by default all of them pass.
///
/// Threads: called on the strand of the session, for different sessions perhaps at the same time.
/// No lock is held, so a plan may call the ensemble. on_submit() runs within Session::submit(), so
/// there a test must post its calls to the client (to cancel, for instance).
class FaultPlan {
 public:
  virtual ~FaultPlan() = default;

  /// What becomes of this request.
  [[nodiscard]] virtual Fault on_submit(const Submission&) { return {}; }
  /// Called before the client gets the reply: the server's, or the error with which a cut or closed
  /// connection ends the request. Not called for a request that was not sent (`disconnect`).
  virtual void before_reply(const Submission&, const Reply&) {}
  /// Called after the client has got the reply.
  virtual void after_reply(const Submission&) {}
};

}  // namespace custodian::testing
