#pragma once

/// \file
/// A driver is a process that uses one library's locks on command. The drivers of ours, Apache
/// Curator's and kazoo's understand the same commands, as far as their library has the locks.
///
/// A line to a driver is "<session> <command>", and creates the session if it is new. Each session
/// has a client and a thread of its own, and does one command after another. The answer is
/// "<session> ok <result>" or "<session> error <message>".
///
///   connect <session timeout, ms>    result: the session's id
///   acquire <kind> <path>            waits without a limit
///   try <kind> <path>                result: "yes" if the session holds the lock now, or "no"
///   release <kind> <path>
///        a kind is mutex, read, write, semaphore-mutex, or <n>-of-<maximum>: n permits of a
///        semaphore with this maximum, which are released together
///   acquire-revocable <kind> <path>  like acquire, and can be asked to release; not a semaphore
///   await-revocation                 waits for the next request to release
///   revoke <kind> <path>             asks the holder at the path to release
///   increment <kind> <path> <times> <directory> <number>
///        does this <times> times: acquires, adds one to the file `counter`, appends the hold, as
///        that of process `number`, to the file `history` (tools/demo_program/history.hpp;
///        CLOCK_MONOTONIC), and releases
///   visit <maximum> <path> <times> <directory> <number>
///        does this <times> times: acquires a random number of a semaphore's permits, and releases
///        them one by one, each appended to `history` as a hold. Curator's driver acquires only
///        one: Curator acquires several one by one, so holders that want more could wait for each
///        other for ever
///   count <path> <times>             adds one to a SharedCount <times> times; tries again if
///                                    another process has changed it meanwhile
///   add <long|integer> <path> <times>
///                                    adds one to a distributed atomic <times> times
///   tally <settled|unsettled> <path> <times>
///                                    tries <times> times to add one to a 64-bit number, ours with
///                                    a witness if it is settled; result: how many additions are
///                                    certain, and how many are unknown
///   await-count <path> <number>      waits until a SharedCount has this value
///
///   set-barrier <path>, remove-barrier <path>
///   await-barrier <path>             waits until the barrier at the path is not set
///
///   enter <path> <members>           enters a double barrier; waits until the party is complete
///   leave <path> <members>           leaves it, and waits until all have left
///   attend <path> <members> <file>   enters and leaves it again and again, until the process is
///                                    killed. Members of our library wait for the next party if
///                                    they are late. Appends to the file what attendance.hpp reads
///
///   produce <path> <producer>, consume <path>
///                                    puts items into a bounded buffer, or takes them out, until it
///                                    is killed; only ours
///
///   lead <latch|selector> <path>     stands for election; result, when it leads: its token and the
///                                    time (CLOCK_MONOTONIC, ns); leads until it is killed
///
/// A driver ends when its standard input does.

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "child_process/child_process.hpp"

namespace custodian::tests {

/// Says whose node names our locks use on a path that is shared with kazoo.
enum class Names { curators, kazoos };

/// A library's driver: its program, and the arguments before and after the servers' address. With
/// TLS the last argument is the file of the authority that the driver trusts.
struct Peer {
  std::string name;
  std::string program;
  std::vector<std::string> arguments_before{};
  std::vector<std::string> arguments_after{};
};

[[nodiscard]] Peer ours(Names names = Names::curators);
/// The driver of Curator. has_curator() must be true.
[[nodiscard]] Peer curator();
/// The driver of kazoo. has_kazoo() must be true. With Names::curators kazoo's
/// `extra_lock_patterns` have our names.
[[nodiscard]] Peer kazoo(Names names = Names::kazoos);

/// Returns whether the library was found when the tests were configured.
[[nodiscard]] bool has_curator();
[[nodiscard]] bool has_kazoo();

/// Threads: one.
class Driver {
 public:
  /// Starts the driver on the suite's servers.
  explicit Driver(const Peer& peer);
  /// Starts the driver on these servers.
  Driver(const Peer& peer, const std::string& servers);

  void tell(const std::string& session, const std::string& command) {
    process_.tell(session + " " + command);
  }
  /// Waits for the session's next answer, and returns its result. Throws if the answer is an error,
  /// or is late.
  [[nodiscard]] std::string answer(const std::string& session);
  /// Returns whether answer() would return at once.
  [[nodiscard]] bool has_answered(const std::string& session);
  /// Kills the driver (SIGKILL).
  void kill() { process_.kill(); }

 private:
  void listen(std::chrono::milliseconds patience);

  const std::string name_;
  testing::ChildProcess process_;
  std::map<std::string, std::deque<std::string>> answers_;
};

/// A session of a driver. The driver must outlive it.
class Session {
 public:
  /// Begins to connect; the first begin() or id() waits for the connection.
  Session(Driver& driver, std::string name,
          std::chrono::milliseconds timeout = std::chrono::seconds{30});

  void begin(const std::string& command);
  [[nodiscard]] std::string end() { return driver_->answer(name_); }
  [[nodiscard]] bool has_ended() { return driver_->has_answered(name_); }
  std::string does(const std::string& command) {
    begin(command);
    return end();
  }
  [[nodiscard]] std::int64_t id();

 private:
  Driver* driver_;
  std::string name_;
  std::int64_t id_ = 0;
};

}  // namespace custodian::tests
