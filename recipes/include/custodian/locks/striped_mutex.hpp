#pragma once

/// \file
/// StripedMutex divides a busy lock into stripes: several mutexes side by side, of which a caller
/// needs only one.
///
///     StripedMutex stock{client, "/stock/4711", 5};  // 100 pieces, 20 of them under each
///     {
///       std::scoped_lock guard{stock.for_key(customer)};  // the same key, the same mutex
///     }
///     StripeLease any = stock.acquire_any();
///     sell_from(any.index);
///
/// One mutex serves one holder after another, and each passing on costs trips to the servers. Where
/// the work can be divided, each stripe gets a mutex of its own, and these trips overlap.
///
/// All programs must use the same number of stripes; no node stores it. A program with another
/// number finds another mutex for the same key, and the two mutexes do not exclude each other. So
/// change the number only while there are no contenders, or together with the path.
///
/// One ensemble bears all stripes, unless the mutex is made with an EnsembleMap: then each stripe
/// is at the home of its own path.
///
/// When not to use it: where the work cannot be divided (use InterProcessMutex, or acquire every
/// stripe); where it does not matter *which* stripe is acquired (InterProcessSemaphore waits in one
/// queue and costs less); for acquire_any() with hundreds of stripes, since it waits in all their
/// queues.
///
/// Threads: any. Lifetimes: the client may be destroyed first (acquires then fail with closed); a
/// lease or a waiting acquire may outlive this object; references to its mutexes may not.

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/deadline.hpp"
#include "custodian/export.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/locks/acquire.hpp"
#include "custodian/locks/inter_process_mutex.hpp"

namespace custodian {

class EnsembleMap;

/// The stripe that a key belongs to: the CRC-32 of the key's bytes (that of zlib, of ISO-HDLC, and
/// of Java's `java.util.zip.CRC32`), modulo the number of stripes. The result is the same on every
/// machine and in every version. Throws Error (invalid_argument) if `stripes` is 0.
[[nodiscard]] CUSTODIAN_EXPORT std::size_t stripe_of(std::string_view key, std::size_t stripes);

/// The result of an acquire of any stripe: a lease and the index of its stripe, or neither.
struct [[nodiscard]] StripeLease {
  /// The lease on the stripe's mutex. Empty if no stripe was acquired.
  Lease lease{};
  /// The stripe's index; valid only with a lease.
  std::size_t index = 0;
  /// The contender that was last seen ahead, in any of the queues. Empty if there is a lease, or if
  /// no contender was seen.
  std::optional<Participant> blocked_by{};
  /// Why there is no lease.
  NotAcquired reason = NotAcquired::none;

  /// The reason as a sentence, as AcquireResult::explain() gives it.
  [[nodiscard]] std::string explain() const { return recipes_detail::explain(reason, blocked_by); }

  /// Whether there is a lease.
  [[nodiscard]] explicit operator bool() const& noexcept { return static_cast<bool>(lease); }
  /// Deleted for a temporary, whose lease would end with the condition: give it a name, as in
  /// `if (auto result = ...)`.
  explicit operator bool() const&& = delete;
};

namespace recipes_detail {
struct Stripes;
using StripesPtr = std::shared_ptr<const Stripes>;

CUSTODIAN_EXPORT void start_acquire_any(CorePtr core, CancellationPtr cancellation,
                                        StripesPtr stripes, WaitLimit limit, AcquireOptions options,
                                        Handler<StripeLease> handler);
}  // namespace recipes_detail

/// Several mutexes side by side, of which a caller needs only one.
/// \copydetails custodian/locks/striped_mutex.hpp
class CUSTODIAN_EXPORT StripedMutex {
 public:
  /// The greatest number of stripes.
  static constexpr std::size_t most_stripes = 1024;

  /// The stripes' mutexes are at `path`/0, `path`/1 and so on; each may also be used by itself, by
  /// Apache Curator's InterProcessMutex, too. Contacts no server. Throws Error (invalid_argument)
  /// if the path is not valid, or the number of stripes is 0 or above `most_stripes`.
  StripedMutex(const Client& client, const std::string& path, std::size_t stripes,
               const LockOptions& options = {});
  /// Spreads the stripes over the ensembles of a map: the mutex of each is at the home of its path,
  /// `path`/0 and so on. All stripes have the same home, unless the depth of the map's layout
  /// reaches the last component of these paths, or pins say otherwise. Throws as the other
  /// constructor does.
  ///
  /// With several homes, acquire_any() and its variants try one home after the other, and then wait
  /// at all homes at once. A home whose client is not connected is passed over, and its stripes are
  /// acquired again when it is back. Observers are notified of the acquire at each home separately.
  /// If one of the clients is closed, an acquire that waits ends with closed.
  StripedMutex(const EnsembleMap& map, const std::string& path, std::size_t stripes,
               const LockOptions& options = {});
  StripedMutex(const StripedMutex&) = delete;
  StripedMutex& operator=(const StripedMutex&) = delete;
  /// Moves as InterProcessLock does: a moved-from object may only be destroyed, or assigned to. The
  /// stripes' mutexes stay where they are: references to them remain valid.
  StripedMutex(StripedMutex&&) noexcept;
  /// Moves as the constructor does. No thread may hold a stripe of the object that is assigned to.
  StripedMutex& operator=(StripedMutex&&) noexcept;
  ~StripedMutex();

  /// The parent of the stripes' paths.
  [[nodiscard]] const std::string& path() const noexcept;
  /// How many stripes there are.
  [[nodiscard]] std::size_t size() const noexcept { return mutexes_.size(); }

  /// \name One stripe, with all that a mutex has
  /// \{

  /// The index of the stripe that the key belongs to: custodian::stripe_of(key, size()).
  [[nodiscard]] std::size_t stripe_of(std::string_view key) const;
  /// The mutex of a stripe. Throws Error (invalid_argument) if there is no such stripe.
  [[nodiscard]] InterProcessMutex& stripe(std::size_t index);
  /// The mutex of a stripe, without a check: the index must be below size().
  [[nodiscard]] InterProcessMutex& operator[](std::size_t index) { return mutexes_[index]; }
  /// The mutex of the stripe that the key belongs to.
  [[nodiscard]] InterProcessMutex& for_key(std::string_view key) {
    return mutexes_[stripe_of(key)];
  }
  /// \}

  /// \name Any stripe
  /// Each function acquires any stripe, in the way of TimedAcquire's function whose name is the
  /// same without `_any`.
  ///
  /// An acquire begins at a random stripe, and enters one queue after another until it finds a free
  /// stripe. If there is none, the acquire waits in all the queues at once, takes the stripe that
  /// is granted first, and leaves the other queues. Each queue is fair; between acquires of
  /// different queues there is no order.
  ///
  /// Errors: those of InterProcessLock's acquires; an error at one stripe ends the acquire. An
  /// acquire that ends without a lease leaves no node in any queue; one that ends with a lease
  /// leaves only the node of that lease. `on_position` is called for each queue by itself; the path
  /// of the participant's node shows which queue it is.
  /// \{

  /// Waits until a stripe is granted, without limit. `stop` ends it with operation_aborted. Throws
  /// resource_deadlock_would_occur if this thread holds all stripes by their standard faces.
  [[nodiscard]] StripeLease acquire_any(AcquireOptions options, std::stop_token stop = {});
  /// acquire_any() with default options.
  [[nodiscard]] StripeLease acquire_any(std::stop_token stop = {}) {
    return acquire_any(AcquireOptions{}, std::move(stop));
  }

  /// Takes a stripe that is free and has no waiters, if there is one. It makes its requests as
  /// InterProcessLock::try_acquire() does.
  [[nodiscard]] StripeLease try_acquire_any(AcquireOptions options = {});

  /// Waits for a stripe until the deadline. Running out of time is no error, whatever the cause:
  /// see InterProcessLock::try_acquire_until(). Without time to wait this is try_acquire_any().
  [[nodiscard]] StripeLease try_acquire_any_until(Deadline deadline, AcquireOptions options,
                                                  std::stop_token stop = {});
  /// try_acquire_any_until() with default options.
  [[nodiscard]] StripeLease try_acquire_any_until(Deadline deadline, std::stop_token stop = {}) {
    return try_acquire_any_until(deadline, AcquireOptions{}, std::move(stop));
  }
  /// try_acquire_any_until() with a duration.
  [[nodiscard]] StripeLease try_acquire_any_for(std::chrono::nanoseconds wait,
                                                AcquireOptions options, std::stop_token stop = {}) {
    return try_acquire_any_until(Deadline{wait}, std::move(options), std::move(stop));
  }
  /// try_acquire_any_for() with default options.
  [[nodiscard]] StripeLease try_acquire_any_for(std::chrono::nanoseconds wait,
                                                std::stop_token stop = {}) {
    return try_acquire_any_for(wait, AcquireOptions{}, std::move(stop));
  }

  /// The asynchronous form of acquire_any().
  /// Completes with: error, StripeLease.
  /// Cancellation: total. A lease that is granted after the cancellation is released again.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_acquire_any(AcquireOptions options, Token&& token) {
    return begin_acquire({}, std::move(options), std::forward<Token>(token));
  }
  /// async_acquire_any() with default options.
  template <typename Token>
  auto async_acquire_any(Token&& token) {
    return async_acquire_any(AcquireOptions{}, std::forward<Token>(token));
  }
  /// The asynchronous form of try_acquire_any(). All else is as for async_acquire_any().
  template <typename Token>
  auto async_try_acquire_any(AcquireOptions options, Token&& token) {
    return begin_acquire({.try_once = true}, std::move(options), std::forward<Token>(token));
  }
  /// async_try_acquire_any() with default options.
  template <typename Token>
  auto async_try_acquire_any(Token&& token) {
    return async_try_acquire_any(AcquireOptions{}, std::forward<Token>(token));
  }
  /// The asynchronous form of try_acquire_any_until(). All else is as for async_acquire_any().
  template <typename Token>
  auto async_try_acquire_any_until(Deadline deadline, AcquireOptions options, Token&& token) {
    return begin_acquire({.deadline = deadline}, std::move(options), std::forward<Token>(token));
  }
  /// async_try_acquire_any_until() with default options.
  template <typename Token>
  auto async_try_acquire_any_until(Deadline deadline, Token&& token) {
    return async_try_acquire_any_until(deadline, AcquireOptions{}, std::forward<Token>(token));
  }
  /// The asynchronous form of try_acquire_any_for(). All else is as for async_acquire_any().
  template <typename Token>
  auto async_try_acquire_any_for(std::chrono::nanoseconds wait, AcquireOptions options,
                                 Token&& token) {
    return async_try_acquire_any_until(Deadline{wait}, std::move(options),
                                       std::forward<Token>(token));
  }
  /// async_try_acquire_any_for() with default options.
  template <typename Token>
  auto async_try_acquire_any_for(std::chrono::nanoseconds wait, Token&& token) {
    return async_try_acquire_any_for(wait, AcquireOptions{}, std::forward<Token>(token));
  }
  /// \}

 private:
  void make_mutexes(const LockOptions& options);
  [[nodiscard]] StripeLease acquire_within(std::string_view operation, const WaitLimit& limit,
                                           AcquireOptions options, std::stop_token stop) const;
  template <typename Token>
  auto begin_acquire(const WaitLimit& limit, AcquireOptions options, Token&& token) {
    return initiate<void(error_code, StripeLease), &recipes_detail::start_acquire_any>(
        core_, std::forward<Token>(token), stripes_, limit, std::move(options));
  }

  CorePtr core_;
  recipes_detail::StripesPtr stripes_;
  std::deque<InterProcessMutex> mutexes_;  // a deque never moves its elements
};

}  // namespace custodian
