#pragma once

/// \file
/// KeptLocks finds a client's kept lock by its key, ends the keeping of nodes that were not used
/// for long, and keeps no more than `ClientOptions::max_kept_locks`. Threads: any.

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

  /// The object of the client, which all its namespaces share: the limit is the client's.
  [[nodiscard]] static KeptLocks& of(const CorePtr& core);

  /// The client's kept lock of this key. Lock objects with the same key share a node.
  [[nodiscard]] KeptLockPtr find(const Client& client, std::string key, HandOff hand_off,
                                 std::chrono::nanoseconds keep_idle_for, KeptLock::Attempt attempt);
  /// The same for readers that share nodes, with up to `most_readers` readers for each node.
  [[nodiscard]] SharedReadersPtr find_readers(const LockSpec& spec, std::string key,
                                              int most_readers,
                                              std::chrono::nanoseconds keep_idle_for);
  /// Called on the strand, when the object's node may be kept. The object lives on, even without a
  /// lock object, until it has no node to keep any more.
  static void remember(const CorePtr& core, KeeperPtr kept);

  /// Called on the strand. From now on the handlers of all waiters are destroyed with the client's
  /// context. Otherwise nothing would end them: in a client that is alone, a waiter waits only for
  /// a thread of the same process.
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
  std::chrono::nanoseconds pause_{0};  ///< the pause between two sweeps

  std::mutex mutex_;  ///< guards what follows; locked before that of a Keeper
  SharedByKey<std::string, Keeper, std::unordered_map> locks_;
  std::deque<KeeperPtr> remembered_;
  std::set<const Keeper*> known_;  ///< the objects in `remembered_`
  std::size_t max_kept_ = 0;       ///< ClientOptions::max_kept_locks
  bool closed_ = false;
};

/// Gives the lock a KeptLock, whose stand-ins acquire it by `attempt`, if its holders may pass it
/// on to each other (`LockOptions::hand_off`), or its client may keep it
/// (`LockOptions::keep_idle_for`).
void share_kept_lock(LockSpec& spec, HandOff hand_off, std::chrono::nanoseconds keep_idle_for,
                     ObservedAs observed_as, KeptLock::Attempt attempt);

/// As make_lock_spec(), for a lock that the first contender of its queue holds, or its first
/// readers. The spec also gets the KeptLock or the SharedReaders for which its options ask.
[[nodiscard]] LockSpecPtr make_kept_lock_spec(const Client& client, std::string_view lock,
                                              const NamingRule& rule, ContenderKind kind,
                                              std::string path, LockOptions options,
                                              std::optional<ObservedAs> observed_as = {});

/// Starts an acquire by the lock's KeptLock or SharedReaders, if it has one and the acquire may use
/// it. Otherwise returns false, and leaves all arguments as they are. The handler runs on any
/// thread, or within this call.
[[nodiscard]] bool start_by_kept_lock(const LockSpecPtr& spec, CancellationPtr& cancellation,
                                      const WaitLimit& wait_limit, const AcquireOptions& options,
                                      Handler<AcquireResult>& handler);
/// As start_by_kept_lock(), but where that returns false, starts an acquire in the queue.
void start_kept_acquire(const LockSpecPtr& spec, CancellationPtr cancellation, WaitLimit wait_limit,
                        AcquireOptions options, Lease held, Handler<AcquireResult> handler);

/// A lease at once, if this client keeps the lock idle, or if a reader may join a node; otherwise
/// an empty lease. Any thread; never blocks.
[[nodiscard]] Lease take_kept(const LockSpec& spec, const AcquireOptions& options);
/// As above, for a blocking call. On a thread of the client's it throws would_deadlock, even where
/// the call would not have to wait: otherwise the mistake would show only now and then.
[[nodiscard]] Lease take_kept(const LockSpec& spec, std::string_view operation,
                              const AcquireOptions& options);

}  // namespace custodian::recipes_detail
