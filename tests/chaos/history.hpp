#pragma once

/// \file
/// History is the joint record of the processes of a chaos run: pure data, and its reader.
///
/// Each process writes a file of its own, and each event is one line, written by a single write(2)
/// so that a SIGKILL loses nothing: the boot clock's nanoseconds, which all processes of a machine
/// share, a word, and its arguments. Each process numbers its own `id`s and `attempt`s.
///
///   worker-<n>.<incarnation>, by a worker:
///     begun <id> <lock> [<takes>/<of>]       an acquire of the whole lock or of a share
///     granted <id> <token> <session> <node>  the acquire has ended with a lease
///     ended <id> <how>                       or without a lease: declined, cancelled,
///                                            deadline, deleted, disconnected (if the acquire
///                                            does not wait for a connection), failed:<why>
///     state <id> <state>                     the lease's state has changed
///     lost <id>                              its holder was notified by lost()
///     released <id> <loss reason>            its holder is about to release
///     write <attempt> <kind> <id>            its holder is about to write: guarded, bare, fenced
///     wrote <attempt> <outcome> <version>    landed, refused, unknown or unsent
///   driver, by the driver:
///     run <seed> <session timeout, ms> <patience, ms>
///     passes <lock> <times>                  a process may pass the lock on among its waiters
///                                            with one node; other locks may not be passed on
///     fault <n> <kind> <process> <lock> <token>   a fault begins; "*" for all, "-" for none.
///                                                 Lock and token are those of the fault's target
///     healed <n>                             the driver has undone the fault
///     over <n>                               every worker and every lock has had a grant again
///     stopped <process>, resumed <process>, killed <process>
///     register <lock> <version>              the guarded register's version at the end
///     left <what> <count>                    nodes or watches that the servers still have, or
///                                            waiters: requests and watches of the clients
///     end                                    the run is complete

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fault_kind.hpp"
#include "token.hpp"

namespace custodian::chaos {

/// A time of the boot clock.
using Time = std::chrono::nanoseconds;

/// An acquire and, if it ended with a lease, the hold that began then.
struct Acquire {
  std::string process{};
  std::int64_t id = 0;
  std::string lock{};
  int takes = 1;  ///< how many of the lock's shares it takes
  int of = 1;  ///< how many shares the lock has; simultaneous holders together must not take more
  Time begun{0};
  std::optional<Time> ended{};  ///< set if it ended without a lease
  std::string how{};
  std::optional<Time> granted{};
  Token token{};
  std::string session{};
  std::string node{};
  std::optional<Time> lost{};
  std::string reason{};
  std::optional<Time> released{};
  bool suspended = false;  ///< whether the lease was ever in the state `suspended`
};

enum class WriteKind {
  guarded,  ///< in ZooKeeper, in a transaction with the lease's check()
  bare,     ///< in ZooKeeper, without that check
  fenced,   ///< in another resource, which refuses tokens smaller than the largest seen
};
enum class WriteOutcome {
  landed,
  refused,
  unknown,  ///< there was no answer: the write may have landed, or may still land
  unsent,
};

struct Write {
  std::string process{};
  std::int64_t attempt = 0;
  WriteKind kind = WriteKind::guarded;
  std::size_t hold = 0;  ///< the hold that it was made under, as an index in `History::acquires`
  Time begun{0};
  std::optional<Time> done{};
  WriteOutcome outcome = WriteOutcome::unknown;
  std::int64_t version = 0;  ///< the register's version after the write, if it landed in ZooKeeper
};

struct Fault {
  std::int64_t number = 0;
  FaultKind kind = FaultKind::calm;
  std::string process{};  ///< the process that the fault concerns; empty: all
  std::string lock{};     ///< the lock whose holder is the target; empty: no target
  Token token{};
  Time begun{0};
  std::optional<Time> healed{};
  std::optional<Time> over{};
};

struct Stop {
  std::string process{};
  Time from{0};
  std::optional<Time> to{};
};

struct History {
  std::string seed{};
  std::chrono::milliseconds session_timeout{0};
  /// The longest time that an acquire may take while there is no fault.
  std::chrono::milliseconds patience{0};

  /// The number of times that a process may pass a lock on with one node, by lock. Locks that are
  /// not listed must not be passed on.
  std::map<std::string, std::int64_t> passes{};

  std::vector<Acquire> acquires{};
  std::vector<Write> writes{};
  std::vector<Fault> faults{};
  std::vector<Stop> stops{};
  std::map<std::string, Time> kills{};  ///< the times at which processes were killed, by process
  std::map<std::string, std::int64_t> registers{};  ///< the guarded registers' versions, by lock
  std::map<std::string, std::int64_t> left{};
  std::optional<Time> end{};
  /// Lines that cannot be read, or that contradict earlier lines, each as "file:line: text".
  std::vector<std::string> malformed{};
};

/// Adds the history of one worker process; its name is the file's name without "worker-".
void read_worker(std::istream& lines, const std::string& process, History& history);
void read_driver(std::istream& lines, History& history);

/// Reads the whole history of a run. Throws std::runtime_error if the directory has no history of
/// the driver.
[[nodiscard]] History read_history(const std::filesystem::path& directory);

}  // namespace custodian::chaos
