#pragma once

/// \file
/// Time that a test moves by hand, for clients of a `FakeEnsemble` and for its servers: a lease is
/// lost, or a session ended, within a millisecond of real time, at the very nanosecond that real
/// servers would take.
///
///     const auto clock = std::make_shared<testing::FakeClock>();
///     testing::FakeEnsemble ensemble{{.clock = clock}};
///     custodian::Client client{ensemble.options("holder")};
///     ...
///     ensemble.cut_off("holder");
///     clock->advance(lease.remaining());  // and the lease is lost
///
/// Several ensembles may share one, for a QuorumLock for instance.
///
/// What it moves: a client's leases, with `hold_at_most` and `remaining()`; its beats, and the
/// limit after which it gives up a silent server; the servers' sessions, which end after their
/// timeout of silence; the durations that an observer gets. What goes on in real time: deadlines of
/// operations and of acquires, pauses between attempts, steady timers of your own; and
/// `FakeEnsembleOptions::longest_lag`.
///
/// When not to use it: to learn how a busy machine or a slow network affects a lease.
///
/// Attempts are repeated in real time, and after a standstill a lease is granted only when the
/// session has been proved alive: a test that waits for that advances the clock again and again by
/// a little.
///
/// Threads: any, for all of it. Lifetimes: clients and ensembles share it. It must not be moved
/// while there is a client whose context is gone.

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>

#include "custodian/clock.hpp"

namespace custodian::testing {

class Timekeeper;

/// A clock that stands still until it is moved. It begins at the same moment in each test.
/// \copydetails custodian/testing/fake_clock.hpp
class FakeClock final : public Clock {
 public:
  /// `patience`: real time that advance() has for a client that does not react.
  explicit FakeClock(std::chrono::milliseconds patience = std::chrono::seconds{5});
  FakeClock(const FakeClock&) = delete;
  FakeClock& operator=(const FakeClock&) = delete;
  ~FakeClock() override;

  [[nodiscard]] BootClock::time_point now() const noexcept override;
  [[nodiscard]] std::unique_ptr<Alarm> make_alarm(Executors executors,
                                                  std::function<void()> ring) override;

  /// Time passes, and every client has the time to react. The clock goes from one moment at which
  /// something is due to the next; at each, first the clients act (send a beat, lose a lease), then
  /// the servers (end a session). It goes on when all of that has been answered, and reported:
  /// listeners and stop callbacks have run, handlers were posted to their executors. So a client
  /// that is connected and healthy keeps its leases, however long the time; an hour of a session of
  /// ten seconds is some two thousand beats, and a fraction of a second.
  ///
  /// It waits for the clients' strands and callback executors, and for nothing else: not for a
  /// thread of yours that a blocking call returns to, nor for what a handler of yours starts
  /// elsewhere, nor for what goes on in real time. A client that does not react for `patience`,
  /// since no thread runs its context for instance, is then not waited for until it does, and is
  /// like a process that was stopped: the servers hear nothing of it.
  ///
  /// Not from a handler, a listener or a FaultPlan, for whose end it would wait for ever: see
  /// jump(). Concurrent calls run one after the other. Throws std::invalid_argument if the time is
  /// negative.
  void advance(std::chrono::nanoseconds time);
  /// The same for clients on a context that this thread runs: runs it meanwhile. Afterwards only
  /// handlers that wait for real time are left on it. What a handler throws comes out of here; time
  /// has then passed in part.
  void advance(std::chrono::nanoseconds time, boost::asio::io_context& context);

  /// Time passes at once, as if all clients' processes had been stopped meanwhile. The servers do
  /// what is due, in order; the clients then find the new time: a session that has ended by then
  /// stays ended, even if the servers hear from a client with its own threads at once. Does not
  /// wait, and may be called from anywhere; from a FaultPlan, for time that a request takes.
  void jump(std::chrono::nanoseconds time);

  /// For an ensemble.
  [[nodiscard]] const std::shared_ptr<Timekeeper>& timekeeper() const noexcept { return keeper_; }

 private:
  const std::shared_ptr<Timekeeper> keeper_;
};

}  // namespace custodian::testing
