#pragma once

/// \file
/// Scenarios are played by clients of two kinds on one path. Each ends with Catch2's assertions, on
/// the test's own thread.

#include <string>
#include <vector>

#include "driver.hpp"

namespace custodian::tests {

/// Four processes of each count in a file that nothing protects but the lock.
void count_together(const Peer& one, const Peer& other, const std::string& kind, int increments);

/// The queue is one: the order is that of arrival, and a try fails while it is not empty.
void stand_in_one_queue(const Peer& one, const Peer& other);

/// Readers of both hold the lock at once; a writer of `one` keeps out readers and writers of
/// `other`, and is kept out by them.
void read_together(const Peer& one, const Peer& other);

/// When a writer of the other side comes: it waits while the write lock is given back, or comes
/// when the next reader has come in.
enum class NextWriter { waits_meanwhile, comes_later };
/// A writer of `downgrading` becomes a reader while a reader of `other` waits. The writer that
/// comes after that goes on waiting.
void downgrade(const Peer& downgrading, const Peer& other, NextWriter next_writer);

struct Downgrade {
  bool keeps_its_place = false;  ///< its reader's node has the number of its writer's
  bool is_passed = false;        ///< the other writer gets the lock beside the reader
};
/// A writer of `downgrading` becomes a reader while a writer of `other` waits already.
[[nodiscard]] Downgrade downgrade_before_writer(const Peer& downgrading, const Peer& other);

/// A process of `killed` dies that holds locks of all kinds, and waits for one.
void kill_holder(const Peer& killed, const Peer& other);

// -- Semaphores
// -------------------------------------------------------------------------------------

/// Four processes of each take and give back permits of one semaphore, so often in all. There are
/// never more at once than the maximum.
void visit_together(const Peer& one, const Peer& other, int maximum, int visits);

/// A client that asks for permits, and releases them as late as possible.
struct Ask {
  Peer peer;
  std::string kind;  ///< of driver.hpp
  int permits = 1;
};
/// The first to ask is served first, as soon as there are permits enough; a try fails while another
/// waits. The last to ask must have to wait.
void serve_in_order(int maximum, const std::vector<Ask>& asks);

/// A process of `killed` dies that holds permits of semaphores, and waits for one, first in line.
void kill_holder_of_permits(const Peer& killed, const Peer& other);

// -- Shared values
// ----------------------------------------------------------------------------------

/// Both increment one SharedCount, which `one` creates: nothing is lost, and each is notified of
/// the other's writes.
void count_in_common(const Peer& one, const Peer& other);

/// A holder of `asked` is asked by `other`, again and again, to release, and does in the end.
void revoke(const Peer& asked, const Peer& other);

}  // namespace custodian::tests
