#pragma once

/// \file
/// A driver is a contestant's process. It reads orders as lines from the standard input and answers
/// on the standard output. All drivers understand these orders, or the part that they support:
///
///   prepare <key>=<value> ...   sets the measurement: a `Task`. Answer: "ready".
///   begin                       measures. Answer: "done". The CPU time from order to answer is
///                               measured from outside, for all drivers alike.
///   result                      Answer: the figures, JSON on one line.
///   release                     only for the work `sessions`: the holder releases. Answer, when
///                               the next thread has the lock: "released <session>", with the
///                               session that has released.
///
/// Any answer may instead be "error <message>". A driver ends at the end of its standard input.
///
/// Works:
///   cycle     `threads` threads, for `seconds`: acquire, check, hold, release, pause
///   sessions  `threads` threads, each with its own session, wait in one queue; then each `release`
///             makes one hand-over; "handover" has their times
///   start     a new client to `servers`, and its first lock; held until `result`
///   count     `threads` threads of one client, for `seconds`: add one to a number at `path`; a sum
///             that is off is "violations", and "acquire" has the times of the additions
///   release   `threads` threads, which share the sessions, wait at a barrier until it is opened;
///             again and again, for `seconds`. A waiter that returns before the opening is a
///             violation; "acquire" has the times from the opening to the return of each waiter,
///             "handover" those to the return of the last one
///   waiters   one client holds the lock, and `waiters` other acquires of that client wait; then
///             each in turn gets the lock
///
/// With `locks` the driver's first client holds that many additional locks, each at a path of its
/// own, from `prepare` to `result`.
///
/// A result has "cycles", "writes" (the cycles that counted on the page), "seconds", "violations",
/// and the times "acquire" and "handover", if measured, in the form of `Histogram`:
/// {"buckets": [[bucket, count], ...], "maximum": ns}. The work `waiters` adds "queued",
/// "queue_seconds", "drain_seconds", "in_order", "memory_bytes" and "peak_bytes"; `locks` adds
/// "locks", "hold_seconds", "let_go_seconds" and "memory_bytes".

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "counting.hpp"
#include "releasing.hpp"
#include "shared_page.hpp"

namespace custodian::bench {

struct Task {
  std::string work;
  std::string servers;
  std::string path;     ///< the path of the lock
  std::string counter;  ///< the file of the `SharedPage`
  int threads = 1;
  int sessions = 1;  ///< the number of sessions, which the threads share
  int waiters = 0;
  int locks = 0;        ///< the number of additional locks that the first client holds
  int write_every = 0;  ///< with a read/write lock every n-th cycle writes; 0 means a mutex
  int passes = 0;       ///< hand-overs in a row within a process, if supported; 0: none
  bool keep = false;    ///< the client keeps the lock while nobody wants it, if supported
  int share = 1;        ///< how many acquires a reader's node serves, if supported
  std::chrono::microseconds hold{0};
  std::chrono::microseconds pause{0};
  std::chrono::duration<double> seconds{1};
};

/// Throws std::invalid_argument.
[[nodiscard]] Task parse_task(const std::string& words);

/// One contender for a lock. Threads: one.
class Locker {
 public:
  Locker() = default;
  Locker(const Locker&) = delete;
  Locker& operator=(const Locker&) = delete;
  virtual ~Locker() = default;
  virtual void lock() = 0;
  virtual void unlock() = 0;
  /// Throws unless overridden.
  virtual void lock_shared();
  virtual void unlock_shared();
  /// The id of the ZooKeeper session, in hexadecimal digits.
  [[nodiscard]] virtual std::string session() const;
};

/// Figures of the work `waiters`.
struct Drain {
  int queued = 0;
  double queue_seconds = 0;
  double drain_seconds = 0;
  bool in_order = true;
  std::int64_t memory_bytes = 0;  ///< growth of the heap in use when all waiters are in the queue
  std::int64_t peak_bytes = 0;    ///< growth of resident memory; counts memory that was freed since
  std::int64_t violations = 0;
};

/// Figures of the additional locks (`Task::locks`).
struct Holding {
  double seconds = 0;  ///< the time until all were acquired
  std::int64_t memory_bytes = 0;
};

/// The number of threads that share the acquires and releases of the additional locks.
inline constexpr int threads_of_holding = 16;

class Contestant {
 public:
  Contestant() = default;
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;
  virtual ~Contestant() = default;
  /// Makes the locker of thread `index`. Clients are kept for the next task, except those of the
  /// work `start`.
  [[nodiscard]] virtual std::unique_ptr<Locker> locker(const Task& task, int index) = 0;
  /// Makes the counter of thread `index`, for the work `count`. Throws unless overridden.
  [[nodiscard]] virtual std::unique_ptr<Counter> counter(const Task& task, int index);
  /// Makes the gate of thread `index`, for the work `release`. Throws unless overridden.
  [[nodiscard]] virtual std::unique_ptr<Gate> gate(const Task& task, int index);
  /// Does the work `waiters`. Throws unless overridden.
  [[nodiscard]] virtual Drain drain(const Task& task);
  /// Acquires `task.locks` locks, and holds them until let_go(). Call it after the first locker()
  /// of the task. Throws unless overridden.
  [[nodiscard]] virtual Holding hold(const Task& task);
  /// Releases the locks of hold(); returns the seconds until their nodes were gone.
  [[nodiscard]] virtual double let_go();
};

/// Serves orders until the standard input ends; returns main()'s value.
int serve(Contestant& contestant);

/// The resident memory of this process, in bytes.
[[nodiscard]] std::int64_t resident_bytes();

}  // namespace custodian::bench
