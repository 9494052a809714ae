#pragma once

/// \file
/// Scenarios for clients of two libraries on one path. Each scenario makes Catch2 assertions, on
/// the test's own thread.

#include <string>
#include <vector>

#include "driver.hpp"

namespace custodian::tests {

/// Four processes of each library count in a file that only the lock protects.
void count_together(const Peer& one, const Peer& other, const std::string& kind, int increments);

/// There is one queue: locks are granted in the order of arrival, and a try fails while anybody is
/// in the queue.
void stand_in_one_queue(const Peer& one, const Peer& other);

/// Readers of both libraries hold the lock at once. A writer of `one` excludes readers and writers
/// of `other`, and they exclude it.
void read_together(const Peer& one, const Peer& other);

/// Says when a writer of the other library comes: before the write lock is released, or when the
/// next reader holds the lock.
enum class NextWriter { waits_meanwhile, comes_later };
/// A writer of `downgrading` becomes a reader while a reader of `other` waits. A later writer goes
/// on waiting.
void downgrade(const Peer& downgrading, const Peer& other, NextWriter next_writer);

struct Downgrade {
  bool keeps_its_place = false;  ///< the reader's node has the sequence number of its writer's node
  bool is_passed = false;        ///< the writer that waited acquires the lock beside the reader
};
/// A writer of `downgrading` becomes a reader while a writer of `other` waits already.
[[nodiscard]] Downgrade downgrade_before_writer(const Peer& downgrading, const Peer& other);

/// Kills a process of `killed` that holds locks of all kinds, and is a waiter at another lock.
void kill_holder(const Peer& killed, const Peer& other);

// -- Semaphores -----------------------------------------------------------------------------------

/// Four processes of each library acquire and release permits of one semaphore, `visits` times in
/// all. There are never more holders at once than the maximum.
void visit_together(const Peer& one, const Peer& other, int maximum, int visits);

/// A client that acquires permits, and keeps them until all clients have asked.
struct Ask {
  Peer peer;
  std::string kind;  ///< a kind of lock, as in driver.hpp
  int permits = 1;
};
/// Permits are granted in the order of the acquires, as soon as enough are free; a try fails while
/// another client waits. The last acquire must have to wait.
void serve_in_order(int maximum, const std::vector<Ask>& asks);

/// Kills a process of `killed` that holds permits of semaphores, and is first in the queue for
/// another permit.
void kill_holder_of_permits(const Peer& killed, const Peer& other);

// -- Shared values --------------------------------------------------------------------------------

/// Both libraries increment one SharedCount, which `one` creates. No increment is lost, and each
/// library is notified of the other's writes.
void count_in_common(const Peer& one, const Peer& other);

/// Waiters of both libraries wait at one barrier: first `one` sets it and `other` removes it, then
/// the other way round.
void wait_at_one_barrier(const Peer& one, const Peer& other);

/// Three processes of each library add to one distributed atomic, `times` times each. `width` is
/// "long" or "integer". No addition is lost, and none counts twice.
void add_in_common(const Peer& one, const Peer& other, const std::string& width, int times);

// -- Double barriers ------------------------------------------------------------------------------

/// Two members of each library enter a party and leave it, `rounds` times. No member of ours is in
/// before all have come, or out before all leave.
void meet(const Peer& one, const Peer& other, int rounds);

/// The result of attend_parties(), for our members and for the others.
struct PartyReport {
  struct Count {
    std::size_t visits = 0;  ///< how often members were in
    std::size_t early = 0;   ///< of these: in before enough were there at one moment
    std::size_t left_alone =
        0;  ///< of these: out while a member that was in when they left was still in
  };
  Count ours{};
  Count others{};
  /// Why attend_parties() ended before the wanted number of parties; empty if it reached that
  /// number.
  std::string stuck{};
};
/// A process of each peer goes from party to party, until there have been `parties`. A party needs
/// `needed` members: each peer but the first has one, and the first has the rest. After each
/// `kill_every` parties one process is killed, and started again. Ends, too, if there is no further
/// party for long, or a member fails.
[[nodiscard]] PartyReport attend_parties(const std::vector<Peer>& peers, int needed,
                                         std::size_t parties, std::size_t kill_every);

/// A client of `other` asks a holder of `asked` repeatedly to release, and the holder does so in
/// the end.
void revoke(const Peer& asked, const Peer& other);

}  // namespace custodian::tests
