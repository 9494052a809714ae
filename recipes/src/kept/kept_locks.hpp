#pragma once

/// \file
/// KeptLocks is all kept locks of a client: it finds the one of a key, gives back those that were
/// not used for long, and keeps no more than `ClientOptions::max_kept_locks`. Threads: any.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "async/end_of_context.hpp"
#include "async/shared_by_key.hpp"
#include "custodian/authoring/service.hpp"
#include "kept/kept_lock.hpp"
#include "kept/shared_readers.hpp"

namespace custodian::recipes_detail {

class KeptLocks final : public Service {
 public:
  explicit KeptLocks(boost::asio::any_io_executor strand);

  /// One for the client, whatever the namespace: the limit is the client's.
  [[nodiscard]] static KeptLocks& of(const CorePtr& core);

  /// The client's kept lock of this key: what lock objects must have in common to share a node.
  [[nodiscard]] KeptLockPtr find(const Client& client, std::string key, HandOff hand_off,
                                 std::chrono::nanoseconds keep_idle_for, KeptLock::Attempt attempt);
  /// The same for readers that share nodes, up to so many each.
  [[nodiscard]] SharedReadersPtr find_readers(const LockSpec& spec, std::string key,
                                              int most_readers,
                                              std::chrono::nanoseconds keep_idle_for);
  /// On the strand: its node may be kept. Keeps the object until its end, also without a lock
  /// object.
  static void remember(const CorePtr& core, KeeperPtr kept);

  /// On the strand: from now on the handlers of all waiters are destroyed with the client's
  /// context. Waiters of a client that is alone wait for nothing but a thread of the same process.
  static void end_with_context(const CorePtr& core);

  void begin_shutdown() override;
  void shutdown() override;

 private:
  template <typename Kept, typename Make>
  [[nodiscard]] std::shared_ptr<Kept> find(const Client& client, std::string key, Make make);
  [[nodiscard]] KeeperPtr make_room();
  [[nodiscard]] std::vector<KeeperPtr> close();
  void abandon();
  // The strand only.
  void watch_over(const CorePtr& core, std::chrono::nanoseconds keep_idle_for);
  void schedule(const CorePtr& core);
  void sweep();

  const boost::asio::any_io_executor strand_;

  // The strand only.
  std::optional<EndOfContext> end_of_context_;
  std::unique_ptr<boost::asio::steady_timer> sweeper_;
  std::chrono::nanoseconds pause_{0};  ///< between two sweeps

  std::mutex mutex_;  ///< guards what follows; locked before that of a Keeper
  SharedByKey<std::string, Keeper, std::unordered_map> locks_;
  std::deque<KeeperPtr> remembered_;
  std::set<const Keeper*> known_;  ///< those that are remembered
  std::size_t max_kept_ = 0;       ///< ClientOptions::max_kept_locks
  bool closed_ = false;
};

/// Gives the lock a KeptLock, whose stand-ins acquire it by `attempt`, if its holders may pass it
/// on to each other (`LockOptions::hand_off`), or its client may keep it
/// (`LockOptions::keep_idle_for`).
void share_kept_lock(LockSpec& spec, HandOff hand_off, std::chrono::nanoseconds keep_idle_for,
                     ObservedAs observed_as, KeptLock::Attempt attempt);

/// make_lock_spec() for a lock that is held by its queue's first contender, or by its first
/// readers; with what its options want kept and shared.
[[nodiscard]] LockSpecPtr make_kept_lock_spec(const Client& client, std::string_view lock,
                                              const NamingRule& rule, ContenderKind kind,
                                              std::string path, LockOptions options,
                                              std::optional<ObservedAs> observed_as = {});

/// Starts an acquire by the lock's KeptLock or SharedReaders, if it has one and the acquire may use
/// it. Otherwise returns false, and has taken nothing. The handler runs on any thread, or within
/// this call.
[[nodiscard]] bool start_by_kept_lock(const LockSpecPtr& spec, CancellationPtr& cancellation,
                                      const WaitLimit& wait_limit, const AcquireOptions& options,
                                      Handler<AcquireResult>& handler);
/// The same, or starts an acquire by the queue.
void start_kept_acquire(const LockSpecPtr& spec, CancellationPtr cancellation, WaitLimit wait_limit,
                        AcquireOptions options, Lease held, Handler<AcquireResult> handler);

/// The lock at once, if this client keeps it idle, or a reader may join; else an empty lease. Any
/// thread; never blocks.
[[nodiscard]] Lease take_kept(const LockSpec& spec, const AcquireOptions& options);
/// The same for a blocking call, which is refused on a thread of the client's (would_deadlock) even
/// if it need not wait: otherwise it would be refused now and then only.
[[nodiscard]] Lease take_kept(const LockSpec& spec, std::string_view operation,
                              const AcquireOptions& options);

}  // namespace custodian::recipes_detail
