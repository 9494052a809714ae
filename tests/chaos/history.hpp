#pragma once

/// \file
/// What the processes of a chaos run have written down, put together: pure data, and its reader.
///
/// Each process writes a file of its own, and each event is one line, written by a single write(2)
/// so that a SIGKILL loses nothing: the boot clock's nanoseconds, which all processes of a machine
/// share, a word, and what belongs to it. `id` and `attempt` are numbers of the process's own.
///
///   worker-<n>.<incarnation>, by a worker:
///     begun <id> <lock> [<takes>/<of>]       an acquire, of all or of a share
///     granted <id> <token> <session> <node>  it has ended with a lease
///     ended <id> <how>                       or without: declined, cancelled, deadline, deleted,
///                                            disconnected (of those that do not wait for a
///                                            connection), failed:<why>
///     state <id> <state>                     the lease's state has changed
///     lost <id>                              its holder was notified by lost()
///     released <id> <loss reason>            its holder is about to release
///     write <attempt> <kind> <id>            its holder is about to write: guarded, bare, fenced
///     wrote <attempt> <outcome> <version>    landed, refused, unknown or unsent
///   driver, by the driver:
///     run <seed> <session timeout, ms> <patience, ms>
///     passes <lock> <times>                  a process may pass it on among its waiters, with one
///                                            node; others may not be
///     fault <n> <kind> <process> <lock> <token>   begins; "*" and "-" for all and none. The hold
///                                                 is the one that it is aimed at
///     healed <n>                             the driver has undone it
///     over <n>                               and everybody is granted locks again
///     stopped <process>, resumed <process>, killed <process>
///     register <lock> <version>              of the guarded register, at the end
///     left <what> <count>                    nodes, watches, waiters that the servers still have
///     end                                    the run was finished

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

/// Of the boot clock.
using Time = std::chrono::nanoseconds;

/// An acquire, and the hold that it ended with, if it did.
struct Acquire {
  std::string process{};
  std::int64_t id = 0;
  std::string lock{};
  int takes = 1;  ///< of so many that there are: what all holders have at once must not be more
  int of = 1;
  Time begun{0};
  std::optional<Time> ended{};  ///< without a lease
  std::string how{};
  std::optional<Time> granted{};
  Token token{};
  std::string session{};
  std::string node{};
  std::optional<Time> lost{};
  std::string reason{};
  std::optional<Time> released{};
  bool suspended = false;  ///< at least once
};

enum class WriteKind {
  guarded,  ///< in ZooKeeper, in a transaction with the lease's check()
  bare,     ///< in ZooKeeper, without
  fenced,   ///< elsewhere, where a token smaller than the largest seen is refused
};
enum class WriteOutcome {
  landed,
  refused,
  unknown,  ///< no answer has come: it may have landed, or may land
  unsent,
};

struct Write {
  std::string process{};
  std::int64_t attempt = 0;
  WriteKind kind = WriteKind::guarded;
  std::size_t hold = 0;  ///< in `History::acquires`
  Time begun{0};
  std::optional<Time> done{};
  WriteOutcome outcome = WriteOutcome::unknown;
  std::int64_t version = 0;  ///< that the register has got, if it landed in ZooKeeper
};

struct Fault {
  std::int64_t number = 0;
  FaultKind kind = FaultKind::calm;
  std::string process{};  ///< empty: all are concerned
  std::string lock{};     ///< of the hold that it is aimed at; empty: of none
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
  /// How long an acquire may take while there is no fault.
  std::chrono::milliseconds patience{0};

  /// How often a process may pass it on with one node, by lock; those that are not here, never.
  std::map<std::string, std::int64_t> passes{};

  std::vector<Acquire> acquires{};
  std::vector<Write> writes{};
  std::vector<Fault> faults{};
  std::vector<Stop> stops{};
  std::map<std::string, Time> kills{};              ///< by process
  std::map<std::string, std::int64_t> registers{};  ///< version of the guarded one, by lock
  std::map<std::string, std::int64_t> left{};
  std::optional<Time> end{};
  /// Lines that are none of those above, or do not fit to those before; as "file:line: text".
  std::vector<std::string> malformed{};
};

/// Adds what one process has written. Its name is the file's, without "worker-".
void read_worker(std::istream& lines, const std::string& process, History& history);
void read_driver(std::istream& lines, History& history);

/// All of a run. Throws std::runtime_error if the directory has no history of a driver.
[[nodiscard]] History read_history(const std::filesystem::path& directory);

}  // namespace custodian::chaos
