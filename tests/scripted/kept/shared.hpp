#pragma once

/// \file
/// Shared is a client whose readers share nodes of a read/write lock, and another client whose
/// readers do not.

#include <optional>

#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "scripted/kept/kept.hpp"

namespace custodian::tests {

struct Shared : Kept {
  explicit Shared(LockOptions of_lock = {.share_readers = 64}) : Kept{std::move(of_lock)} {
    book.emplace(*mine, "/book", options);
    others_book.emplace(*other, "/book");
    // Makes the lock's path, so that each acquire from now on is one create and one listing.
    acquire(others_book->read()).release();
    settle_book();
  }
  ~Shared() {
    mine->release_kept_locks();
    settle_book();
    CHECK(nodes("/book") == 0);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  void settle_book() {
    static_cast<void>(world.run_until([&] { return nodes("/book") == 0; }));
    world.settle();
    world.ensemble.clear_history();
  }
  Place queue_reader() { return queue(book->read()); }
  Lease read() { return acquire(book->read()); }
  /// Acquires the read lock, and runs until nothing is under way.
  Lease read_settled() {
    Lease lease = read();
    world.settle();
    world.ensemble.clear_history();
    return lease;
  }

  std::optional<InterProcessReadWriteLock> book;
  std::optional<InterProcessReadWriteLock> others_book;
};

}  // namespace custodian::tests
