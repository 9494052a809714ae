#pragma once

/// \file
/// CachedAtomicLong hands out unique numbers, thousands a second: Apache Curator's class of this
/// name, and Redisson's id generator. It adds a whole chunk to a DistributedAtomicLong at once, and
/// hands out its numbers from memory; the next chunk is fetched before the present one is used up.
///
/// Numbers are unique over all clients that use the same DistributedAtomicLong in this way, and
/// each object (with its copies) hands them out in strictly growing order, until the 64 bits wrap
/// around. There are gaps: when a process ends, the rest of its chunks is lost, and a chunk whose
/// reply was lost is never handed out. Numbers of several clients are in no order of time.
///
/// When not to use it: to count (the node's value counts the numbers that were fetched, and not
/// those that were handed out); for numbers without gaps; for an order over several clients.
///
/// Threads: any. Lifetimes: a handle, which may be copied; copies share their chunks. The client
/// may be destroyed first (closed); a chunk that is being fetched may outlive the object.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "custodian/atomics/distributed_atomic_long.hpp"
#include "custodian/authoring/bridge.hpp"
#include "custodian/export.hpp"

namespace custodian {

/// How many numbers a CachedAtomicLong keeps in memory.
struct CachedAtomicOptions {
  /// How many numbers are fetched at once; more than 0. The default gives ten thousand numbers a
  /// second for a hundred writes a second.
  std::int64_t chunk = 100;
  /// The next chunk is fetched when no more than this many numbers are left. A fetch takes one or
  /// two round trips: choose the number that is handed out in that time. Not negative.
  std::int64_t prefetch_at = 20;
};

namespace recipes_detail {
class NumberCache;
using NumberCachePtr = std::shared_ptr<NumberCache>;

CUSTODIAN_EXPORT void start_next_number(CorePtr core, CancellationPtr cancellation,
                                        NumberCachePtr cache, OperationOptions options,
                                        Handler<std::int64_t> handler);
}  // namespace recipes_detail

/// Hands out unique numbers from memory.
/// \copydetails custodian/atomics/cached_atomic_long.hpp
class CUSTODIAN_EXPORT CachedAtomicLong {
 public:
  /// Contacts no server. With `Settle::left_to_caller`, too, no number is handed out twice: a lost
  /// reply only leaves a gap. Throws Error (invalid_argument) if `chunk` is not
  /// positive, `prefetch_at` is negative, or both together are 2^63 or more.
  explicit CachedAtomicLong(const DistributedAtomicLong& atomic, CachedAtomicOptions options = {});

  /// The path of the DistributedAtomicLong.
  [[nodiscard]] const std::string& path() const noexcept;

  /// Returns the next number, at once if there is one in memory. Otherwise chunks are fetched again
  /// and again until the deadline, each time for no longer than `ClientOptions::operation_timeout`.
  /// Completes with: error, the number.
  /// Cancellation: total; no number is lost by it.
  /// Errors: deadline_exceeded, no_auth, malformed_data, bad_version (see
  /// `UpdateOptions::contention`), and those common to all operations, except those that are
  /// outcome_unknown.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_next(OperationOptions options, Token&& token) {
    return initiate<void(error_code, std::int64_t), &recipes_detail::start_next_number>(
        core_, std::forward<Token>(token), cache_, options);
  }
  /// The same with default options.
  template <typename Token>
  auto async_next(Token&& token) {
    return async_next(OperationOptions{}, std::forward<Token>(token));
  }
  /// The same, blocking. A thread that runs the client may call it only while there are numbers in
  /// memory. Throws Error.
  [[nodiscard]] std::int64_t next(OperationOptions options = {});
  /// The next number, if there is one in memory. If there is none, a chunk is fetched for later
  /// calls. Never blocks. Throws Error: closed, forked.
  [[nodiscard]] std::optional<std::int64_t> try_next();

 private:
  CorePtr core_;
  recipes_detail::NumberCachePtr cache_;
};

}  // namespace custodian
