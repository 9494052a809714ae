#pragma once

/// \file
/// A driver is a contestant's process. It gets orders as lines, over standard input and output; all
/// drivers understand the same orders, as far as they can do them:
///
///   prepare <key>=<value> ...   what is to be measured: a `Task`. Answer: "ready".
///   begin                       does it. Answer: "done". The CPU time between the two is counted,
///                               from outside, for all drivers alike.
///   result                      Answer: the figures, JSON on one line.
///   release                     of the work `sessions` only: the holder releases. Answer, when the
///                               next one has the lock: "released <session>", with the session
///                               that has released.
///
/// or the answer is "error <message>". A driver ends when its standard input does.
///
/// Works:
///   cycle     `threads` threads, for `seconds`: acquire, check, hold, release, pause
///   sessions  as many threads with a session each stand in one queue; then `release`, step by
///             step; "handover" is of those
///   start     a new client to `servers`, and its first lock; held until `result`
///   waiters   one client holds the lock and `waiters` of its own wait; then all have it in turn
///
/// With `locks` a driver lets its first client hold that many more, each at a path of its own, from
/// `prepare` to `result`.
///
/// A result has "cycles", "writes" (those of them that counted on the page), "seconds",
/// "violations", and of what was measured "acquire" and
/// "handover": {"buckets": [[bucket, count], ...], "maximum": ns}, as `Histogram` has them. Of
/// `waiters`: "queued", "queue_seconds", "drain_seconds", "in_order",
/// "memory_bytes" and "peak_bytes". With `locks`: "locks", "hold_seconds", "let_go_seconds" and
/// "memory_bytes".

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "shared_page.hpp"

namespace custodian::bench {

struct Task {
  std::string work;
  std::string servers;
  std::string path;     ///< the lock's name
  std::string counter;  ///< a file, a `SharedPage`
  int threads = 1;
  int sessions = 1;  ///< that the threads share
  int waiters = 0;
  int locks = 0;        ///< held besides
  int write_every = 0;  ///< of a read/write lock: one in so many writes; 0: a mutex
  int passes = 0;       ///< inside a process before others have their turn, of those that can
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
  /// The others throw.
  virtual void lock_shared();
  virtual void unlock_shared();
  /// As ZooKeeper has it, in hexadecimal digits.
  [[nodiscard]] virtual std::string session() const;
};

/// Of the work `waiters`.
struct Drain {
  int queued = 0;
  double queue_seconds = 0;
  double drain_seconds = 0;
  bool in_order = true;
  std::int64_t memory_bytes = 0;  ///< of the heap, in use when all stand in the queue
  std::int64_t peak_bytes = 0;    ///< resident then: also what was needed on the way there
  std::int64_t violations = 0;
};

/// Figures of the locks that are held besides.
struct Holding {
  double seconds = 0;  ///< until all were acquired
  std::int64_t memory_bytes = 0;
};

/// The number of threads that share the acquires and the releases of locks that are held besides.
inline constexpr int threads_of_holding = 16;

class Contestant {
 public:
  Contestant() = default;
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;
  virtual ~Contestant() = default;
  /// The locker of thread `index` of the task. Clients stay for the next task, but those of `start`
  /// do not.
  [[nodiscard]] virtual std::unique_ptr<Locker> locker(const Task& task, int index) = 0;
  /// Throws where it is not overridden.
  [[nodiscard]] virtual Drain drain(const Task& task);
  /// Acquires `task.locks` locks, which are held until let_go(). The first locker() of the task was
  /// asked for. Throws where it is not overridden.
  [[nodiscard]] virtual Holding hold(const Task& task);
  /// Releases them; returns the seconds until their nodes were gone.
  [[nodiscard]] virtual double let_go();
};

/// Serves orders until the standard input ends; returns main()'s value.
int serve(Contestant& contestant);

/// Resident memory of this process.
[[nodiscard]] std::int64_t resident_bytes();

}  // namespace custodian::bench
