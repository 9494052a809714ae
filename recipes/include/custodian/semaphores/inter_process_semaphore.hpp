#pragma once

/// \file
/// InterProcessSemaphore is a semaphore over processes: a number of permits that they share.
///
///     InterProcessSemaphore licences{client, "/licences/solver", 5};
///     Lease licence = licences.acquire();
///     std::vector<Lease> three = licences.acquire(3);  // all or none
///
/// The semaphore is fair: permits are granted in the order of the requests, and an acquire of many
/// permits is not overtaken by acquires of few. A permit is a Lease, with a node, a state and a
/// loss of its own: permits may be released one by one, or all at once. There is no re-entry, and
/// no thread owns a permit.
///
/// The maximum is either a number that each program names, or it is in a SharedCount. If programs
/// name different numbers for one path, each keeps to its own number. A SharedCount may be written
/// while there are holders and waiters. Waiters see at once when the maximum is raised. When the
/// maximum is lowered, no holder loses a permit, but no permit is granted until enough were
/// released. While the maximum is less than the first waiter asks for, that waiter waits, and all
/// behind it.
///
/// The semaphore is meant for tens of permits, not thousands: each permit costs a node and two
/// requests.
///
/// Do not use it as a mutex that another thread may release: that is InterProcessSemaphoreMutex. Do
/// not use a permit's fencing token as that of a mutex: it says only when the permit was granted.
/// The younger of two holders has the greater token, but the older may still hold its permit.
///
/// On the servers the semaphore is Apache Curator's InterProcessSemaphoreV2, and both may share a
/// path. Beware then of Curator's acquire(n): since it takes the permits one by one, two clients
/// that hold some permits and want more may wait for each other for ever. InterProcessSemaphore
/// takes all or none, but cannot prevent that deadlock between two clients of Curator.
///
/// Threads: any. Lifetimes: the client may be destroyed first (acquires then fail with closed); a
/// lease or a waiting acquire may outlive the semaphore object.

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/deadline.hpp"
#include "custodian/export.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/locks/acquire.hpp"
#include "custodian/locks/inter_process_lock.hpp"
#include "custodian/locks/timed_acquire.hpp"
#include "custodian/shared/shared_count.hpp"

namespace custodian {

namespace recipes_detail {
struct SemaphoreSpec;
using SemaphoreSpecPtr = std::shared_ptr<const SemaphoreSpec>;
template <typename Held>
class HoldPool;

/// A number of permits of a semaphore.
struct Permits {
  SemaphoreSpecPtr spec;
  int count;
};

CUSTODIAN_EXPORT void check_permits(const SemaphoreSpec& spec, std::string_view operation,
                                    int permits);
CUSTODIAN_EXPORT void start_acquire_permit(CorePtr core, CancellationPtr cancellation,
                                           SemaphoreSpecPtr spec, WaitLimit limit,
                                           AcquireOptions options, Handler<AcquireResult> handler);
CUSTODIAN_EXPORT void start_acquire_permits(CorePtr core, CancellationPtr cancellation,
                                            Permits permits, WaitLimit limit,
                                            AcquireOptions options, Handler<PermitsResult> handler);
CUSTODIAN_EXPORT void start_permit_holders(CorePtr core, CancellationPtr cancellation,
                                           SemaphoreSpecPtr spec, OperationOptions options,
                                           Handler<std::vector<Participant>> handler);
CUSTODIAN_EXPORT void start_permit_queue_length(CorePtr core, CancellationPtr cancellation,
                                                SemaphoreSpecPtr spec, OperationOptions options,
                                                Handler<std::size_t> handler);
}  // namespace recipes_detail

/// A semaphore over processes: a number of permits that they share.
/// \copydetails custodian/semaphores/inter_process_semaphore.hpp
class CUSTODIAN_EXPORT InterProcessSemaphore
    : public BlockingAcquire<InterProcessSemaphore, Lease, AcquireResult> {
 public:
  /// Makes a semaphore with a fixed maximum. Throws Error (invalid_argument) if the path is not
  /// valid, the maximum is below 1, or the options' profile is not Curator's. The path belongs to
  /// the semaphore, which creates two children there.
  InterProcessSemaphore(const Client& client, const std::string& path, int maximum,
                        const LockOptions& options = {});
  /// Makes a semaphore whose maximum is the present value of a counter, or the counter's seed if
  /// its node is missing. While the maximum is below 1, no permit is granted. The counter must
  /// belong to the same client. Its node must not be the semaphore's path or above it, nor at or
  /// below the semaphore's `locks` and `leases` (otherwise invalid_argument). The SharedCount
  /// object may be destroyed before the semaphore. Each acquire reads the counter, which costs two
  /// more requests.
  InterProcessSemaphore(const Client& client, const std::string& path, const SharedCount& maximum,
                        const LockOptions& options = {});

  /// The path of the semaphore: the parent of its nodes `locks` and `leases`.
  [[nodiscard]] const std::string& path() const noexcept;

  /// \name Permits
  /// Without a number the functions acquire one permit, as BlockingAcquire has it; with a number
  /// they acquire that many, or none. A try succeeds if the permits are free and no other acquire
  /// is about to take permits. So the result may be empty although permits are free, as with
  /// std::counting_semaphore.
  ///
  /// Errors of all these functions: invalid_argument (fewer permits than one, more than a fixed
  /// maximum, or more than 1,000: thrown at once, by the asynchronous forms, too), malformed_data
  /// (the data of the counter's node are not a number), and those of BlockingAcquire. node_deleted
  /// also means that an operator removed a permit's node, or the containers that these nodes are
  /// in. An acquire that ends without its permits leaves no node, whenever and however it ends.
  ///
  /// `AcquireOptions::on_position` gets the acquire's place in the queue at every change. Once the
  /// acquire is at the front of the queue, the callback gets the number of missing permits, and the
  /// youngest holder as the nearest contender.
  /// \{

  using BlockingAcquire::acquire;
  using BlockingAcquire::try_acquire;
  using BlockingAcquire::try_acquire_for;
  using BlockingAcquire::try_acquire_until;

  /// Acquires `permits` permits, or none. All else is as for acquire() of one.
  [[nodiscard]] std::vector<Lease> acquire(int permits, AcquireOptions options,
                                           std::stop_token stop = {});
  /// acquire() with default options.
  [[nodiscard]] std::vector<Lease> acquire(int permits, std::stop_token stop = {}) {
    return acquire(permits, AcquireOptions{}, std::move(stop));
  }
  /// Acquires `permits` permits, or none. All else is as for try_acquire() of one.
  [[nodiscard]] PermitsResult try_acquire(int permits, AcquireOptions options = {});
  /// Acquires `permits` permits, or none. All else is as for try_acquire_until() of one.
  [[nodiscard]] PermitsResult try_acquire_until(int permits, Deadline deadline,
                                                AcquireOptions options, std::stop_token stop = {});
  /// try_acquire_until() with default options.
  [[nodiscard]] PermitsResult try_acquire_until(int permits, Deadline deadline,
                                                std::stop_token stop = {}) {
    return try_acquire_until(permits, deadline, AcquireOptions{}, std::move(stop));
  }
  /// try_acquire_until() with a duration.
  [[nodiscard]] PermitsResult try_acquire_for(int permits, std::chrono::nanoseconds wait,
                                              AcquireOptions options, std::stop_token stop = {}) {
    return try_acquire_until(permits, Deadline{wait}, std::move(options), std::move(stop));
  }
  /// try_acquire_for() with default options.
  [[nodiscard]] PermitsResult try_acquire_for(int permits, std::chrono::nanoseconds wait,
                                              std::stop_token stop = {}) {
    return try_acquire_for(permits, wait, AcquireOptions{}, std::move(stop));
  }

  /// The asynchronous form of acquire().
  /// Completes with: error, the permits that were asked for; a try completes with: error,
  /// PermitsResult.
  /// Cancellation: total. Permits that are granted after the cancellation are released again.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_acquire(int permits, AcquireOptions options, Token&& token) {
    recipes_detail::check_permits(*spec_, "async_acquire", permits);
    return initiate<void(error_code, std::vector<Lease>),
                    recipes_detail::WithoutLimit<&recipes_detail::start_acquire_permits,
                                                 &PermitsResult::permits>{}>(
        core_, std::forward<Token>(token), recipes_detail::Permits{spec_, permits},
        std::move(options));
  }
  /// async_acquire() with default options.
  template <typename Token>
  auto async_acquire(int permits, Token&& token) {
    return async_acquire(permits, AcquireOptions{}, std::forward<Token>(token));
  }
  /// The asynchronous form of try_acquire(). All else is as for async_acquire().
  template <typename Token>
  auto async_try_acquire(int permits, AcquireOptions options, Token&& token) {
    return begin_acquire("async_try_acquire", permits, {.try_once = true}, std::move(options),
                         std::forward<Token>(token));
  }
  /// async_try_acquire() with default options.
  template <typename Token>
  auto async_try_acquire(int permits, Token&& token) {
    return async_try_acquire(permits, AcquireOptions{}, std::forward<Token>(token));
  }
  /// The asynchronous form of try_acquire_until(). All else is as for async_acquire().
  template <typename Token>
  auto async_try_acquire_until(int permits, Deadline deadline, AcquireOptions options,
                               Token&& token) {
    return begin_acquire("async_try_acquire_until", permits, {.deadline = deadline},
                         std::move(options), std::forward<Token>(token));
  }
  /// async_try_acquire_until() with default options.
  template <typename Token>
  auto async_try_acquire_until(int permits, Deadline deadline, Token&& token) {
    return async_try_acquire_until(permits, deadline, AcquireOptions{}, std::forward<Token>(token));
  }
  /// The asynchronous form of try_acquire_for(). All else is as for async_acquire().
  template <typename Token>
  auto async_try_acquire_for(int permits, std::chrono::nanoseconds wait, AcquireOptions options,
                             Token&& token) {
    return async_try_acquire_until(permits, Deadline{wait}, std::move(options),
                                   std::forward<Token>(token));
  }
  /// async_try_acquire_for() with default options.
  template <typename Token>
  auto async_try_acquire_for(int permits, std::chrono::nanoseconds wait, Token&& token) {
    return async_try_acquire_for(permits, wait, AcquireOptions{}, std::forward<Token>(token));
  }

  /// \}

  /// A view with std::counting_semaphore's functions, for code that expects that type. The permits
  /// that are acquired through a view belong to the view and its copies, not to a thread: any
  /// thread may release them. The destruction of the last copy releases the permits that are left.
  /// A loss is not reported: use leases where losses matter.
  class Counting {
   public:
    /// Acquires one permit as InterProcessSemaphore::acquire() does, with the same errors.
    void acquire();
    /// Acquires one permit as InterProcessSemaphore::try_acquire() does; returns whether it did.
    [[nodiscard]] bool try_acquire();
    /// Acquires one permit as InterProcessSemaphore::try_acquire_for() does; returns whether it
    /// did.
    template <typename Rep, typename Period>
    [[nodiscard]] bool try_acquire_for(const std::chrono::duration<Rep, Period>& wait) {
      return try_acquire_until(Deadline{wait});
    }
    /// Acquires one permit as InterProcessSemaphore::try_acquire_until() does; returns whether it
    /// did. `Clock` may be any clock; it is read once, at the beginning.
    template <typename Clock, typename Duration>
    [[nodiscard]] bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& time) {
      return try_acquire_until(Deadline{time - Clock::now()});
    }
    /// Acquires one permit as InterProcessSemaphore::try_acquire_until() does; returns whether it
    /// did.
    [[nodiscard]] bool try_acquire_until(Deadline deadline);
    /// Releases `permits` permits, the oldest first, lost or not. Throws Error
    /// (operation_not_permitted), and releases nothing, if the view has fewer permits: a release
    /// cannot create permits.
    void release(std::ptrdiff_t permits = 1);

   private:
    friend class InterProcessSemaphore;
    explicit Counting(const InterProcessSemaphore& semaphore);

    recipes_detail::SemaphoreSpecPtr spec_;
    std::shared_ptr<recipes_detail::HoldPool<Lease>> pool_;
  };
  /// Makes a view, which has permits of its own and may outlive the semaphore object.
  [[nodiscard]] Counting counting() const { return Counting{*this}; }

  /// \name Introspection
  /// \{

  /// Lists the holders of permits, in order, with a participant for each permit; the last ones may
  /// belong to an acquire that still waits for more permits. The answer may be out of date when it
  /// arrives.
  /// Completes with: error, the participants.
  /// Cancellation: total.
  /// Errors: no_auth, deadline_exceeded, operation_aborted, and those common to all operations.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_participants(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, std::vector<Participant>),
                    &recipes_detail::start_permit_holders>(core_, std::forward<Token>(token), spec_,
                                                           options);
  }
  /// The blocking form of async_participants(). Throws Error.
  [[nodiscard]] std::vector<Participant> participants(OperationOptions options = {}) const;

  /// Counts the acquires that wait. All else is as for async_participants().
  template <typename Token>
  auto async_queue_length(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, std::size_t), &recipes_detail::start_permit_queue_length>(
        core_, std::forward<Token>(token), spec_, options);
  }
  /// The blocking form of async_queue_length(). Throws Error.
  [[nodiscard]] std::size_t queue_length(OperationOptions options = {}) const;

  /// For authors of recipes: the description of the semaphore, which starting an acquire needs.
  [[nodiscard]] const recipes_detail::SemaphoreSpecPtr& spec() const noexcept { return spec_; }
  /// \}

 private:
  friend BlockingAcquire;
  static constexpr auto held = &AcquireResult::lease;

  [[nodiscard]] AcquireResult acquire_within(std::string_view operation, const WaitLimit& limit,
                                             AcquireOptions options, std::stop_token stop) const;
  template <typename Token>
  auto begin_acquire(std::string_view operation, int permits, const WaitLimit& limit,
                     AcquireOptions options, Token&& token) {
    recipes_detail::check_permits(*spec_, operation, permits);
    return initiate<void(error_code, PermitsResult), &recipes_detail::start_acquire_permits>(
        core_, std::forward<Token>(token), recipes_detail::Permits{spec_, permits}, limit,
        std::move(options));
  }

  CorePtr core_;
  recipes_detail::SemaphoreSpecPtr spec_;
};

}  // namespace custodian
