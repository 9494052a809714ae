#include "kept/shared_readers.hpp"

#include <unistd.h>

#include <boost/asio/dispatch.hpp>
#include <utility>

#include "acquire/contender.hpp"
#include "kept/kept_locks.hpp"

// How readers of one client share a node (share_order.hpp decides, pure):
//
// 1. take(): the newest node holds the lock, and no writer is known to wait behind it. The reader
//    has the lock at once, in its own thread.
// 2. Otherwise enter() adds a waiter, which joins the newest node while that waits, or gets a new
//    one. on_sent(): the node's create is sent, and a listing with a watch behind it.
// 3. on_acquired(): a node is granted the lock. All its readers have a lease on it.
// 4. on_released(): one of them has released. Without a reader the node stays, idle, if it may be
//    kept and no writer has come. In all other cases it is deleted.
// 5. on_changed(): the watch has fired. From then on no reader joins, until another listing, 10 ms
//    after the one before at the earliest, shows that no writer has come (in
//    shared_readers_company.cpp).
//
// Each step decides under the mutex, unlocks it, and only then acts (Errand).

namespace custodian::recipes_detail {

namespace asio = boost::asio;

SharedReaders::SharedReaders(const LockSpec& spec, int most_readers,
                             std::chrono::nanoseconds keep_idle_for)
    : LocalWaiters{spec.client},
      core_{spec.client.core()},
      path_{spec.path},
      rule_{spec.rule},
      keep_idle_for_{keep_idle_for},
      order_{most_readers} {}

SharedReaders::~SharedReaders() {
  // In the child of a fork mutexes may be locked for ever.
  if (::getpid() == process_) return;
  [[maybe_unused]] const auto* const leaked = pause_.release();
}

bool SharedReaders::may_take(const AcquireOptions& options) {
  return !options.lease.loss_policy && !options.lease.hold_at_most;
}

bool SharedReaders::may_enter(const WaitLimit& wait_limit, const AcquireOptions& options) {
  return may_wait(wait_limit, options) && may_take(options);
}

// -- Readers --------------------------------------------------------------------------------------

Lease SharedReaders::take() {
  Lock lock{mutex_};
  const detail::LockNodePtr node = join();
  lock.unlock();
  return node ? detail::next_lease(node, detail::Events::of_loss_only) : Lease{};
}

detail::LockNodePtr SharedReaders::join() {
  // `changed_` is read under the mutex. If readers read it before they lock the mutex, all that
  // wait for the mutex would overtake a writer that comes meanwhile.
  if (!newest_ || changed_ || closed_ || !detail::may_be_passed_on(newest_)) return nullptr;
  if (!order_.join()) return nullptr;
  is_popular_ = true;
  record_.on_reused();
  return newest_;
}

void SharedReaders::enter(const LockSpecPtr& spec, CancellationPtr cancellation, Deadline deadline,
                          Handler<AcquireResult> handler) {
  if (const error_code error = spec->client.unusable()) {
    return std::move(handler)(error, AcquireResult{});
  }
  if (Lease lease = take()) {
    return std::move(handler)(error_code{}, AcquireResult{.lease = std::move(lease)});
  }
  Waiter waiter{spec, std::move(handler), deadline, ObservedAcquire{spec}};
  asio::dispatch(strand_, [self = self(), waiter = std::move(waiter),
                           cancellation = std::move(cancellation)]() mutable {
    self->enter_line(std::move(waiter), cancellation);
  });
}

void SharedReaders::enter_line(Waiter waiter, const CancellationPtr& cancellation) {
  const Client& client = waiter.spec->client;
  const Deadline deadline = waiter.deadline;
  if (const error_code error = client.unusable()) return complete(std::move(waiter), error, {});
  Lock lock{mutex_};
  // A node that waits has no lease, which would notice a lost connection: so that is checked here.
  const bool believed = is_sound() && is_connected(client.connection_state()) &&
                        listed_on_ == detail::connection_number(*client.core());
  if (!believed) order_.on_changed();
  ShareOrder::Entry entry = order_.enter();
  add_waiter(entry.reader, std::move(waiter));
  Errand errand = begin_errand(entry.next);
  lock.unlock();

  run(std::move(errand));
  if (cancellation || !deadline.is_never()) limit(entry.reader, cancellation, deadline);
}

void SharedReaders::give_up(Id id, error_code error) {
  Lock lock{mutex_};
  auto [waited, next] = order_.leave(id);
  if (!waited) return;
  Sight sight;
  // The nodes' acquires know which contender is ahead of the waiter.
  for (const auto& [number, each] : places_) sight.add(each.acquire);
  Errand errand = begin_errand(next);
  Waiter waiter = take_waiter(id, errand);
  lock.unlock();

  run(std::move(errand));
  complete_late(std::move(waiter), error, std::move(sight));
}

SharedReaders::Waiter SharedReaders::take_waiter(Id id, Errand& errand) {
  Waiter waiter = LocalWaiters::take_waiter(id);
  if (!waiter.deadline.is_never()) errand.no_deadline_left = deadlines_.empty();
  return waiter;
}

// -- Nodes ----------------------------------------------------------------------------------------

SharedReaders::Errand SharedReaders::begin_errand(const ShareOrder::Next& next) {
  Errand errand;
  for (const Id reader : next.hold) errand.hold.push_back(take_waiter(reader, errand));
  if (!next.hold.empty()) errand.held = places_.at(next.held).node;
  if (next.create) errand.create.push_back(make_node(*next.create));
  errand.list = next.list;
  for (const Node each : next.end) {
    const auto found = places_.find(each);
    if (found == places_.end()) continue;
    if (!found->second.node) {
      errand.leave.push_back(found->second.end);
      continue;
    }
    // The node leaves its place before its delete is sent.
    if (found->second.node == newest_) newest_.reset();
    errand.gone.push_back(std::move(found->second.node));
    places_.erase(found);
  }
  return errand;
}

SharedReaders::NewNode SharedReaders::make_node(Node number) {
  // Any waiter's spec will do: the new node's reader is one of them.
  const LockSpecPtr& spec = waiters_.begin()->second.spec;
  const auto acquire = std::make_shared<Acquire>();
  acquire->spec = spec;
  acquire->attempt = [self = self(), number](const AcquirePtr& each) {
    self->on_sent(each, number);
  };
  acquire->on_queued = [self = self(), number](std::string_view name) {
    self->on_queued(number, name);
  };
  acquire->shows_nearest = true;
  acquire->for_others = this;
  NewNode made{.number = number,
               .acquire = acquire,
               .end = std::make_shared<Cancellation>(spec->client.core())};
  places_[number] = Place{.acquire = acquire, .end = made.end, .node = nullptr};
  newest_.reset();
  return made;
}

void SharedReaders::run(Errand errand) {
  errand.gone.clear();
  for (const CancellationPtr& each : errand.leave) each->request();
  for (const NewNode& each : errand.create) {
    // Captures the number, and not the acquire, because the acquire owns this function.
    const auto last_word = std::make_shared<LastWord>(
        each.acquire->spec, [self = self(), number = each.number](error_code error, Lease lease) {
          self->on_acquired(number, error, std::move(lease));
        });
    start(each.acquire, each.end, as_one_lease([last_word](error_code error, AcquireResult result) {
            (*last_word)(error, std::move(result.lease));
          }));
  }
  if (errand.list) {
    asio::dispatch(strand_, [self = self()] { self->list(); });
  }
  for (Waiter& each : errand.hold) {
    Lease lease = detail::next_lease(errand.held);
    complete(std::move(each), {}, AcquireResult{.lease = std::move(lease)});
  }
  if (errand.no_deadline_left) {
    asio::dispatch(strand_, [self = self()] { self->set_alarm(); });
  }
}

void SharedReaders::on_sent(const AcquirePtr& acquire, Node number) {
  if (!std::exchange(hears_newcomers_, true)) {
    Client{acquire->client().share()}.use_service<Newcomers>().add(path_, weak());
    KeptLocks::end_with_context(acquire->client().core());
  }
  {
    const std::lock_guard lock{mutex_};
    order_.on_sent(number);
  }
  acquire_lock(acquire);
  list();
}

void SharedReaders::on_queued(Node number, std::string_view name) {
  const ParsedName parsed = parse_name(name, rule_);
  const auto* contender = std::get_if<ContenderName>(&parsed);
  std::optional<Sequence> sequence;
  if (contender != nullptr && state_of(contender->sequence) != SequenceState::exhausted) {
    sequence = contender->sequence;
  }
  Lock lock{mutex_};
  Errand errand = begin_errand(order_.on_queued(number, sequence));
  lock.unlock();
  run(std::move(errand));
}

void SharedReaders::on_acquired(Node number, error_code error, Lease lease) {
  // Done before the mutex is locked, because the second function may be called at once.
  if (lease) {
    detail::set_pass_on(
        detail::lock_node(lease),
        [self = self(), number](detail::LockNodePtr node) {
          self->on_released(number, std::move(node));
        },
        [weak = weak(), number] {
          if (const auto self = weak.lock()) self->retire(number, KeptLockEnd::unusable);
        });
  }
  Lock lock{mutex_};
  if (!lease) return on_failed(std::move(lock), number, error);
  const bool is_newest = number == order_.newest();
  const bool keeps =
      keep_idle_for_.count() > 0 && !closed_ && is_newest && record_.forecast().begin();
  const ShareOrder::Next next = order_.on_granted(number, keeps);
  if (next.held != number) {
    // All readers of the node have given up: `lease` releases the lock when this function returns.
    places_.erase(number);
    Errand errand = begin_errand(next);
    lock.unlock();
    return run(std::move(errand));
  }
  places_.at(number).node = detail::lock_node(lease);
  Errand errand = begin_errand(next);
  if (is_newest) {
    record_.end(core_, KeptLockEnd::unusable);
    record_.begin(keeps, errand.hold.front().spec->observed, lease.token());
    newest_ = detail::lock_node(lease);
  }
  const bool lists = is_newest && order_.listing_helps() && !listing_;
  lock.unlock();

  if (keeps) KeptLocks::remember(lease.core(), self());
  if (lists) list();
  std::vector<Waiter> readers = std::exchange(errand.hold, {});
  const detail::LockNodePtr node = errand.held;
  run(std::move(errand));
  for (Waiter& each : readers) {
    // The first reader gets the lease that the acquire has brought.
    Lease own = std::exchange(lease, Lease{});
    if (!own) own = detail::next_lease(node);
    complete(std::move(each), {}, AcquireResult{.lease = std::move(own)});
  }
}

void SharedReaders::on_failed(Lock lock, Node number, const error_code& error) {
  places_.erase(number);
  Errand errand;
  std::vector<Waiter> failed;
  if (error == Errc::closed) {
    // The other nodes would fail as well.
    for (auto& [id, waiter] : take_all()) {
      static_cast<void>(order_.leave(id));
      failed.push_back(std::move(waiter));
    }
    errand.no_deadline_left = true;
  } else {
    const ShareOrder::Failure failure = order_.on_ended(number);
    errand = begin_errand(failure.next);
    for (const Id id : failure.failed) failed.push_back(take_waiter(id, errand));
  }
  lock.unlock();
  run(std::move(errand));
  for (Waiter& each : failed) complete(std::move(each), error, AcquireResult{});
}

/// Called in the releasing thread.
void SharedReaders::on_released(Node number, detail::LockNodePtr node) {
  Lock lock{mutex_};
  const auto found = places_.find(number);
  if (found == places_.end() || found->second.node != node) return;
  // The watch may have fired while the strand waits for the mutex: see on_changed().
  if (changed_) order_.on_changed();
  const ShareOrder::Next next = order_.on_released(number, !detail::has_passing_ended(node));
  if (order_.is_idle(number)) {
    detail::set_idle(node);
    record_.on_idle();
  } else if (!next.end.empty() && node == newest_) {
    record_.end(core_, changed_ ? KeptLockEnd::wanted : KeptLockEnd::unusable);
  }
  Errand errand = begin_errand(next);
  lock.unlock();
  run(std::move(errand));
}

/// Lets no more readers join this node.
void SharedReaders::retire(Node number, KeptLockEnd reason) {
  Lock lock{mutex_};
  if (number == order_.newest()) record_.end(core_, reason);
  Errand errand = begin_errand(order_.retire(number));
  lock.unlock();
  run(std::move(errand));
}

}  // namespace custodian::recipes_detail
