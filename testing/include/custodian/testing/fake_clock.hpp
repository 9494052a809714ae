#pragma once

/// \file
/// Time that a test moves by hand, for clients of a `FakeEnsemble` and for its servers: a lease is
/// lost, or a session ends, within a millisecond of real time, at exactly the nanosecond at which
/// its time is over. (Real servers end a session up to one tick later.)
///
///     const auto clock = std::make_shared<testing::FakeClock>();
///     testing::FakeEnsemble ensemble{{.clock = clock}};
///     custodian::Client client{ensemble.options("holder")};
///     ...
///     ensemble.cut_off("holder");
///     clock->advance(lease.remaining());  // and the lease is lost
///
/// Several ensembles may share one clock, for a QuorumLock for instance.
///
/// The clock moves a client's leases, with `hold_at_most` and `remaining()`; its beats, and the
/// limit after which it gives up a silent server; the servers' sessions, which end after their
/// timeout of silence; the durations that an observer gets. It does not move what counts in real
/// time: deadlines of operations and of acquires, pauses between attempts, steady timers of your
/// own, and `FakeEnsembleOptions::longest_lag`.
///
/// When not to use it: to learn how a busy machine or a slow network affects a lease.
///
/// After a standstill of its process (see jump()), a client grants a lease only when a reply has
/// proved its session alive: a test that waits for the lease must advance the clock repeatedly, in
/// small steps.
///
/// Threads: any thread may call any function. Lifetimes: clients and ensembles share the clock. Do
/// not move the clock while a client exists whose context has been destroyed.

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
  /// `patience`: the real time for which advance() waits for a client that does not react.
  explicit FakeClock(std::chrono::milliseconds patience = std::chrono::seconds{5});
  FakeClock(const FakeClock&) = delete;
  FakeClock& operator=(const FakeClock&) = delete;
  ~FakeClock() override;

  [[nodiscard]] BootClock::time_point now() const noexcept override;
  [[nodiscard]] std::unique_ptr<Alarm> make_alarm(Executors executors,
                                                  std::function<void()> ring) override;

  /// Moves the clock, and gives every client the time to react. The clock goes from one moment at
  /// which something is due to the next. At each moment first the clients act (send a beat, lose a
  /// lease), then the servers (end a session). The clock goes on when all requests are answered and
  /// all events reported: listeners and stop callbacks have run, handlers were posted to their
  /// executors. So a client that is connected and healthy keeps its leases, however far the clock
  /// moves; an hour with a session timeout of ten seconds is some two thousand beats, and takes a
  /// fraction of a second.
  ///
  /// advance() waits for the clients' strands and callback executors, and for nothing else: not for
  /// a thread of yours in which a blocking call returns, nor for work that a handler of yours
  /// starts elsewhere, nor for anything in real time. If a client does not react within `patience`
  /// (because no thread runs its context, for instance), advance() goes on without it until it
  /// reacts. Such a client is like a stopped process: the servers hear nothing from it.
  ///
  /// Do not call it from a handler, a listener or a FaultPlan: advance() would wait for ever for
  /// its caller to end. Use jump() there. Concurrent calls run one after the other. Throws
  /// std::invalid_argument if the time is negative.
  void advance(std::chrono::nanoseconds time);
  /// Moves the clock in the same way for clients on a context that this thread runs: advance() runs
  /// the context meanwhile. Afterwards only handlers that wait for real time are left in the
  /// context. advance() passes on an exception of a handler; the clock has then moved only part of
  /// the way.
  void advance(std::chrono::nanoseconds time, boost::asio::io_context& context);

  /// Moves the clock at once, as if all clients' processes had been stopped meanwhile. The servers
  /// do everything that is due, in order; then the clients find the new time. A session that has
  /// ended by then stays ended, even if a client with threads of its own reaches the servers at
  /// once. Does not wait, and may be called from anywhere: from a FaultPlan, for instance, for the
  /// time that a request takes.
  void jump(std::chrono::nanoseconds time);

  /// Used by FakeEnsemble.
  [[nodiscard]] const std::shared_ptr<Timekeeper>& timekeeper() const noexcept { return keeper_; }

 private:
  const std::shared_ptr<Timekeeper> keeper_;
};

}  // namespace custodian::testing
