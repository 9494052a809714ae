#include "kept/kept_locks.hpp"

#include <algorithm>
#include <bit>
#include <boost/asio/dispatch.hpp>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "acquire/contender.hpp"
#include "acquire/start_acquire.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/spawn.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

KeptLocks::KeptLocks(asio::any_io_executor strand) : strand_{std::move(strand)} {}

KeptLocks& KeptLocks::of(const CorePtr& core) {
  return static_cast<KeptLocks&>(use_service(
      own_core(core), typeid(KeptLocks),
      [](asio::any_io_executor strand) { return std::make_unique<KeptLocks>(std::move(strand)); }));
}

template <typename Kept, typename Make>
std::shared_ptr<Kept> KeptLocks::find(const Client& client, std::string key, Make make) {
  const std::lock_guard lock{mutex_};
  max_kept_ = client.max_kept_locks();
  // Objects with the same key have the same type.
  return std::static_pointer_cast<Kept>(locks_.find_or_make(std::move(key), [&] {
    const std::shared_ptr<Keeper> kept = make();
    if (closed_) kept->close();
    return kept;
  }));
}

KeptLockPtr KeptLocks::find(const Client& client, std::string key, HandOff hand_off,
                            std::chrono::nanoseconds keep_idle_for, KeptLock::Attempt attempt) {
  return find<KeptLock>(client, std::move(key), [&] {
    return std::make_shared<KeptLock>(client, hand_off, keep_idle_for, attempt);
  });
}

SharedReadersPtr KeptLocks::find_readers(const LockSpec& spec, std::string key, int most_readers,
                                         std::chrono::nanoseconds keep_idle_for) {
  return find<SharedReaders>(spec.client, "readers " + std::move(key), [&] {
    return std::make_shared<SharedReaders>(spec, most_readers, keep_idle_for);
  });
}

// -- Which are kept -------------------------------------------------------------------------------

void KeptLocks::remember(const CorePtr& core, KeeperPtr kept) {
  KeptLocks& locks = of(core);
  KeeperPtr surplus;
  bool is_closed = false;
  {
    const std::lock_guard lock{locks.mutex_};
    is_closed = locks.closed_;
    if (locks.known_.contains(kept.get())) return;
    if (is_closed || locks.max_kept_ == 0) {
      surplus = std::move(kept);
    } else {
      surplus = locks.make_room();
      locks.known_.insert(kept.get());
      locks.remembered_.push_back(kept);
    }
  }
  if (surplus) surplus->end_keeping(is_closed ? KeptLockEnd::closed : KeptLockEnd::crowded);
  if (kept) locks.watch_over(core, kept->keep_idle_for());
}

namespace {

/// The pause between two looks at a lock that is kept for this long.
std::chrono::nanoseconds pause_for(std::chrono::nanoseconds keep_idle_for) {
  using namespace std::chrono_literals;
  return std::clamp<std::chrono::nanoseconds>(keep_idle_for / 4, 5ms, 5s);
}

}  // namespace

void KeptLocks::end_with_context(const CorePtr& core) {
  KeptLocks& self = of(core);
  if (self.end_of_context_) return;
  self.end_of_context_.emplace(self.strand_, [weak = std::weak_ptr{core}] {
    const CorePtr alive = weak.lock();
    if (alive && !detail::is_forked(*alive)) of(alive).abandon();
  });
}

void KeptLocks::watch_over(const CorePtr& core, std::chrono::nanoseconds keep_idle_for) {
  end_with_context(core);
  if (!sweeper_ || pause_for(keep_idle_for) < pause_) schedule(core);
}

/// If the limit is reached, takes out an object that was not used for long. The objects have turns:
/// one that was used since its last turn is spared until the next one (the CLOCK algorithm). The
/// caller holds the mutex.
KeeperPtr KeptLocks::make_room() {
  if (remembered_.size() < max_kept_) return nullptr;
  for (std::size_t i = remembered_.size(); i > 0 && remembered_.front()->is_popular(); --i) {
    remembered_.push_back(std::move(remembered_.front()));
    remembered_.pop_front();
  }
  KeeperPtr surplus = std::move(remembered_.front());
  remembered_.pop_front();
  known_.erase(surplus.get());
  return surplus;
}

void KeptLocks::schedule(const CorePtr& core) {
  pause_ = std::chrono::seconds{5};
  {
    const std::lock_guard lock{mutex_};
    if (closed_ || remembered_.empty()) {
      sweeper_.reset();
      return;
    }
    for (const auto& each : remembered_)
      pause_ = std::min(pause_, pause_for(each->keep_idle_for()));
  }
  if (!sweeper_) sweeper_ = std::make_unique<asio::steady_timer>(strand_);
  sweeper_->expires_after(pause_);
  sweeper_->async_wait([weak = std::weak_ptr{core}](error_code cancelled) {
    const CorePtr alive = weak.lock();
    if (!alive || cancelled) return;
    KeptLocks& self = of(alive);
    self.sweep();
    self.schedule(alive);
  });
}

void KeptLocks::sweep() {
  std::deque<KeeperPtr> all;
  {
    const std::lock_guard lock{mutex_};
    all = remembered_;
  }
  const auto now = std::chrono::steady_clock::now();
  std::set<const Keeper*> forgotten;
  for (const KeeperPtr& each : all) {
    if (!each->sweep(now)) forgotten.insert(each.get());
  }
  if (forgotten.empty()) return;
  const std::lock_guard lock{mutex_};
  std::erase_if(remembered_, [&](const auto& each) { return forgotten.contains(each.get()); });
  std::erase_if(known_, [&](const auto* each) { return forgotten.contains(each); });
}

void KeptLocks::begin_shutdown() {
  sweeper_.reset();
  for (const KeeperPtr& each : close()) each->close();
}

void KeptLocks::shutdown() { end_of_context_.reset(); }

void KeptLocks::abandon() {
  for (const KeeperPtr& each : close()) each->abandon();
}

std::vector<KeeperPtr> KeptLocks::close() {
  std::deque<KeeperPtr> last;
  const std::lock_guard lock{mutex_};
  closed_ = true;
  last.swap(remembered_);
  known_.clear();
  return locks_.all();
}

// -- Acquires -------------------------------------------------------------------------------------

namespace {

/// Lock objects share a node if they contend under one name, with one identity and one loss policy,
/// and if an observer cannot tell them apart. `most`: how many holders a node may have while others
/// want the lock.
std::string key_of(const LockSpec& spec, int most, std::chrono::nanoseconds keep_idle_for,
                   const ObservedAs& observed_as) {
  const int loss_policy = spec.lease.loss_policy ? static_cast<int>(*spec.lease.loss_policy) : -1;
  std::string key;
  for (const std::string_view each :
       {std::string_view{spec.client.name_space()}, std::string_view{spec.path}, spec.lock_name,
        std::string_view{spec.identity}, observed_as.recipe, observed_as.path}) {
    // Each part is preceded by its length, so that different parts never make the same key.
    key += std::to_string(each.size());
    key += ':';
    key += each;
  }
  const auto add = [&](std::intmax_t number) { (key += ' ') += std::to_string(number); };
  add(std::bit_cast<std::intptr_t>(spec.rule.names.data()));  // which recipe's rule
  add(loss_policy);
  add(most);
  add(keep_idle_for.count());
  return key;
}

}  // namespace

void share_kept_lock(LockSpec& spec, HandOff hand_off, std::chrono::nanoseconds keep_idle_for,
                     ObservedAs observed_as, KeptLock::Attempt attempt) {
  // A client that may keep no node need not find out whether it is alone.
  if (spec.client.max_kept_locks() == 0) keep_idle_for = std::chrono::nanoseconds{0};
  if (hand_off == HandOff::strict() && keep_idle_for.count() == 0) return;
  // In the child of a fork mutexes may be locked for ever.
  if (spec.client.unusable() == Errc::forked) return;
  std::string key = key_of(spec, hand_off.max_local_handoffs(), keep_idle_for, observed_as);
  spec.kept = KeptLocks::of(spec.client.core())
                  .find(spec.client, std::move(key), hand_off, keep_idle_for, attempt);
}

namespace {

/// Gives the lock a SharedReaders, if its readers may share a node.
void share_readers(LockSpec& spec, int most_readers, std::chrono::nanoseconds keep_idle_for,
                   const ObservedAs& observed_as) {
  if (most_readers == 1) return;
  if (spec.client.max_kept_locks() == 0) keep_idle_for = std::chrono::nanoseconds{0};
  // In the child of a fork mutexes may be locked for ever.
  if (spec.client.unusable() == Errc::forked) return;
  std::string key = key_of(spec, most_readers, keep_idle_for, observed_as);
  spec.readers = KeptLocks::of(spec.client.core())
                     .find_readers(spec, std::move(key), most_readers, keep_idle_for);
}

}  // namespace

LockSpecPtr make_kept_lock_spec(const Client& client, std::string_view lock, const NamingRule& rule,
                                ContenderKind kind, std::string path, LockOptions options,
                                std::optional<ObservedAs> observed_as) {
  const HandOff hand_off = options.hand_off;
  const auto keep_idle_for = options.keep_idle_for;
  const int most_readers = options.share_readers;
  const std::shared_ptr<LockSpec> spec =
      make_lock_spec(client, lock, rule, kind, std::move(path), std::move(options), observed_as);
  const ObservedAs shown = observed_as.value_or(ObservedAs{lock, spec->path});
  // Readers hold the lock together, so they do not pass it on.
  if (kind == ContenderKind::shared) {
    share_readers(*spec, most_readers, keep_idle_for, shown);
  } else {
    share_kept_lock(*spec, hand_off, keep_idle_for, shown, &acquire_lock);
  }
  return spec;
}

namespace {

bool is_kept(const LockSpec& spec) noexcept { return spec.kept || spec.readers; }

}  // namespace

bool start_by_kept_lock(const LockSpecPtr& spec, CancellationPtr& cancellation,
                        const WaitLimit& wait_limit, const AcquireOptions& options,
                        Handler<AcquireResult>& handler) {
  const auto enter = [&](auto& kept) {
    if (!kept.may_enter(wait_limit, options)) return false;
    kept.enter(spec, std::move(cancellation), wait_limit.deadline, std::move(handler));
    return true;
  };
  if (spec->kept && enter(*spec->kept)) return true;
  if (spec->readers && enter(*spec->readers)) return true;
  Lease lease = take_kept(*spec, options);
  if (!lease) return false;
  std::move(handler)(error_code{}, AcquireResult{.lease = std::move(lease)});
  return true;
}

void start_kept_acquire(const LockSpecPtr& spec, CancellationPtr cancellation, WaitLimit wait_limit,
                        AcquireOptions options, Lease held, Handler<AcquireResult> handler) {
  if (!held && start_by_kept_lock(spec, cancellation, wait_limit, options, handler)) return;
  start_acquire_within(spec, std::move(cancellation), wait_limit, std::move(options),
                       std::move(held), std::move(handler));
}

Lease take_kept(const LockSpec& spec, const AcquireOptions& options) {
  if (!is_kept(spec) || spec.client.unusable()) return {};
  if (spec.readers) return SharedReaders::may_take(options) ? spec.readers->take() : Lease{};
  return KeptLock::may_take(options) ? spec.kept->take() : Lease{};
}

Lease take_kept(const LockSpec& spec, std::string_view operation, const AcquireOptions& options) {
  if (!is_kept(spec)) return {};
  detail::require_may_block(*spec.client.core(), operation, spec.path);
  return take_kept(spec, options);
}

}  // namespace custodian::recipes_detail
