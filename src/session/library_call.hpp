#pragma once

/// \file
/// LibraryCall is the lock that every call into the C client holds. Only the files of CClient
/// include it.

#include <pthread.h>

#include <cassert>
#include <mutex>
#include <thread>

#include "session/c_client.hpp"

namespace custodian::detail {

/// Holds the process-wide lock during one call into the C client, and remembers which CClient
/// calls: completions and log lines come without a handle.
class LibraryCall {
 public:
  explicit LibraryCall(CClient& client) : lock_{(make_fork_safe(), mutex)} {
    current = &client;
    caller = std::this_thread::get_id();
  }
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;
  ~LibraryCall() {
    // The state is read after each call, because a connection may begin or end without an event.
    current->read_state();
    current = nullptr;
  }

  static CClient& client() {
    assert(current != nullptr && caller == std::this_thread::get_id() &&
           "the C client is used, or calls back, outside of a call that holds its lock");
    return *current;
  }

 private:
  /// Makes a fork wait for the call under way. Otherwise the lock would be held for ever in the
  /// child, by a thread that does not exist there.
  static void make_fork_safe() {
    static const int once =
        ::pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });
    static_cast<void>(once);
  }

  static inline std::mutex mutex;
  static inline CClient* current = nullptr;
  static inline std::thread::id caller;
  std::lock_guard<std::mutex> lock_;
};

}  // namespace custodian::detail
