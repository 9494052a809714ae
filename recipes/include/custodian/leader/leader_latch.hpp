#pragma once

/// \file
/// LeaderLatch elects one of several candidates, which leads for as long as it can. It is Apache
/// Curator's LeaderLatch, and compatible with it on the wire.
///
/// Each candidate creates an ephemeral sequential node below the path; the lowest number leads, and
/// every other candidate waits for the one before it. A leader leads until it closes its latch or
/// loses the leadership; after a loss it stands again, at the end of the queue. Its leadership is a
/// Lease: with a fencing token, a stop_token for its loss, and the promise that the loss is
/// reported before another candidate can lead.
///
/// When not to use it: for work that begins and ends (LeaderSelector runs a function while it
/// leads; a lock is for work that must not run twice at the same time); to know who leads without
/// taking part (LeaderObserver); for work that must never be done twice, unless the resource that
/// it changes checks the fencing token: a leader whose process is stopped does not know that it has
/// been replaced.
///
/// A latch that was closed may be started again: it stands once more, with another node, at the end
/// of the queue.
///
/// Threads: any. Lifetimes: the client may be destroyed first; the latch is then closed for good.

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/deadline.hpp"
#include "custodian/export.hpp"
#include "custodian/leader/candidate.hpp"
#include "custodian/leader/leadership.hpp"
#include "custodian/lease/lease.hpp"

namespace custodian {

namespace recipes_detail {
class Candidacy;
using CandidacyPtr = std::shared_ptr<Candidacy>;
class Latch;
using LatchPtr = std::shared_ptr<Latch>;

CUSTODIAN_EXPORT void start_wait_leadership(CorePtr core, CancellationPtr cancellation,
                                            LatchPtr latch, Deadline deadline,
                                            Handler<Lease> handler);
}  // namespace recipes_detail

/// A candidate in an election; it leads for as long as it can.
/// \copydetails custodian/leader/leader_latch.hpp
class CUSTODIAN_EXPORT LeaderLatch : public Candidate {
 public:
  /// Whether the latch stands for election.
  using State = CandidateState;
  /// Which notification the listeners of a latch get if it is closed while it leads.
  enum class CloseMode {
    /// The listeners get no notification.
    silent,
    /// The listeners get `Leadership::ended`. The node is deleted when they have returned.
    notify_leader,
  };

  /// `path` is the parent of the candidates' nodes; it is created, as a container, when it is
  /// needed. Throws Error (invalid_argument) if it is not a valid path. Contacts no server.
  LeaderLatch(const Client& client, std::string path, CandidateOptions options = {});
  /// Closes the latch, silently. Does not wait.
  ~LeaderLatch();

  /// Stands for election from now on; returns at once. May be called again after close(), at any
  /// time and on any thread: listeners are notified of the end of the old leadership before a new
  /// one. The new node queues behind the old one, so the latch does not lead again while a lease of
  /// the old leadership is kept. Throws Error: invalid_argument if the latch is already started,
  /// closed if its client was closed, forked.
  void start();
  /// Gives up the leadership or the candidacy until the next start(); returns at once, and the node
  /// is deleted in the background. A wait for the leadership ends with `closed`. Does nothing if
  /// the latch is already closed.
  void close(CloseMode mode = CloseMode::silent);

  /// Whether the latch stands for election now. Any thread.
  [[nodiscard]] State state() const;

  /// \name Does it lead?
  /// \{

  /// Whether the latch leads now. Reads the boot clock, and asks no server. The answer may be out
  /// of date at once, like every answer about a lock: let the resource that is changed check the
  /// token.
  [[nodiscard]] bool has_leadership() const;
  /// A lease that shares the leadership: for its token, check(), state and lost(). Empty if the
  /// latch does not lead. The lease keeps the leadership until it is released, even if the latch is
  /// closed before. The lease of a lost leadership keeps the node in the queue, ahead of all later
  /// candidates: release it.
  [[nodiscard]] Lease leadership() const;

  /// Calls the listener with every change from now on, until the subscription is destroyed. Each
  /// listener that got `gained` gets `ended`, too, unless the latch is closed silently. As with
  /// Lease::lost(), `ended` comes before another candidate can lead, unless the leader's node was
  /// deleted by hand or its maximum time is over.
  [[nodiscard]] Subscription on_leadership(LeadershipListener listener);

  /// Waits until the latch leads; returns at once if it already does. The latch need not be started
  /// yet. Returns the leadership, as leadership() does. `stop` ends it with operation_aborted.
  /// Throws Error: closed (the latch or the client was closed, even if the latch has been started
  /// again since), operation_aborted.
  [[nodiscard]] Lease wait(std::stop_token stop = {}) const;
  /// wait() with a limit: returns an empty lease if the time runs out. If no thread runs the
  /// client's context, the call returns an empty lease a tenth of a second after the deadline, or
  /// after `ClientOptions::operation_timeout` if the deadline has passed already.
  [[nodiscard]] Lease wait_until(Deadline deadline, std::stop_token stop = {}) const;
  /// wait_until() with a duration.
  [[nodiscard]] Lease wait_for(std::chrono::nanoseconds time, std::stop_token stop = {}) const {
    return wait_until(Deadline{time}, std::move(stop));
  }

  /// The asynchronous form of wait().
  /// Completes with: error, the leadership; empty, without an error, if the time ran out.
  /// Cancellation: total; the candidacy goes on.
  /// Errors: closed, operation_aborted, forked.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_wait(Token&& token) const {
    return async_wait_until(Deadline::never(), std::forward<Token>(token));
  }
  /// The asynchronous form of wait_until(). All else is as for async_wait().
  template <typename Token>
  auto async_wait_until(Deadline deadline, Token&& token) const {
    return initiate<void(error_code, Lease), &recipes_detail::start_wait_leadership>(
        core(), std::forward<Token>(token), latch_, deadline);
  }
  /// The asynchronous form of wait_for(). All else is as for async_wait().
  template <typename Token>
  auto async_wait_for(std::chrono::nanoseconds time, Token&& token) const {
    return async_wait_until(Deadline{time}, std::forward<Token>(token));
  }
  /// \}

 private:
  explicit LeaderLatch(recipes_detail::CandidacyPtr candidacy);

  recipes_detail::LatchPtr latch_;
};

}  // namespace custodian
