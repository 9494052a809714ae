#include "lock_play.hpp"

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <limits>
#include <optional>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"

namespace custodian::tests {

namespace asio = boost::asio;

namespace {

constexpr auto lock_path = "/locks/one";

/// The locks of one client at `lock_path`.
class Locks {
 public:
  explicit Locks(const Client& client) : client_{client.share()} {}

  /// Calls the function with the lock. The types of locks share an interface, but no base class.
  template <typename Function>
  void with(Recipe recipe, Function function) {
    switch (recipe) {
      case Recipe::mutex: return function(made(mutex_));
      case Recipe::writer: return function(made(both_).write());
      case Recipe::reader: return function(made(both_).read());
      case Recipe::semaphore_mutex: return function(made(semaphore_mutex_));
    }
  }
  [[nodiscard]] InterProcessReadWriteLock::ReadLock& read() { return made(both_).read(); }

 private:
  /// Makes a lock when it is first used: a mutex and a semaphore mutex of one client cannot share a
  /// path.
  template <typename Lock>
  [[nodiscard]] Lock& made(std::optional<Lock>& lock) {
    if (!lock) lock.emplace(client_, lock_path);
    return *lock;
  }

  Client client_;
  std::optional<InterProcessMutex> mutex_;
  std::optional<InterProcessReadWriteLock> both_;
  std::optional<InterProcessSemaphoreMutex> semaphore_mutex_;
};

/// The recipe that excludes every other holder.
Recipe exclusive(Recipe recipe) { return recipe == Recipe::reader ? Recipe::writer : recipe; }

class Play {
 public:
  Play(const Scenario& scenario, Faults faults, std::optional<Cancel> cancel)
      : scenario_{scenario},
        cancel_{cancel},
        faulty_{!faults.empty()},
        expires_{std::ranges::any_of(faults,
                                     [](const auto& each) {
                                       const FaultKind kind = each.second.kind;
                                       return kind == FaultKind::expire_before ||
                                              kind == FaultKind::expire_after;
                                     })},
        plan_{std::make_shared<FaultsAt>("observed", std::move(faults))} {}

  Verdict run() {
    prepare();
    acquire();
    if (!world_.run_until([this] { return arrived_; })) complain("the acquire does not end");
    judge_ending();
    let_others_in();
    leave_nothing();
    verdict_.steps = plan_->steps();
    return std::move(verdict_);
  }

 private:
  void complain(const std::string& what) {
    if (verdict_.violation.empty()) verdict_.violation = what;
  }

  void prepare() {
    other_ = world_.client("other");
    observed_ = world_.client_that_counts_strays("observed");
    others_locks_.emplace(*other_);
    locks_.emplace(*observed_);
    using enum Neighbours;
    if (scenario_.neighbours != none) {
      world_.make("/locks");
      world_.make(lock_path);
    }
    if (scenario_.neighbours == foreign) world_.make(std::string{lock_path} + "/config");
    if (scenario_.neighbours == malformed) world_.make(std::string{lock_path} + "/x-lock-abc");
    if (scenario_.neighbours == end_of_sequence) {
      world_.ensemble.set_next_sequence(lock_path, std::numeric_limits<std::int32_t>::max());
    }
    before_ = contenders();
    if (scenario_.held) {
      others_lease_ = acquire_first(*others_locks_, scenario_.others);
    }
    if (scenario_.face == Face::downgrade) {
      write_lease_ = acquire_first(*locks_, Recipe::writer);
    }
    plan_->submitted = [this](std::size_t step) {
      if (scenario_.incident_at == step) asio::post(world_.context, [this] { happen(); });
      if (due(CancelMoment::request_sent, step)) {
        asio::post(observed_->get_executor(),
                   [this] { signal_.emit(asio::cancellation_type::all); });
      }
    };
    plan_->replying = [this](std::size_t step) {
      if (due(CancelMoment::before_reply, step)) signal_.emit(asio::cancellation_type::all);
    };
    plan_->replied = [this](std::size_t step) {
      if (due(CancelMoment::after_reply, step)) signal_.emit(asio::cancellation_type::all);
    };
    world_.ensemble.set_fault_plan(plan_);
  }

  Lease acquire_first(Locks& locks, Recipe recipe) {
    auto holding = tests::run<Lease>(world_, [&](auto done) {
      locks.with(recipe, [&](auto& lock) { lock.async_acquire(done); });
    });
    if (holding.arrived() && !holding.error()) return std::move(holding.result());
    complain("who is to hold the lock first does not get it");
    return {};
  }

  [[nodiscard]] bool due(CancelMoment moment, std::size_t step) const {
    return cancel_ && cancel_->moment == moment && cancel_->at == step;
  }

  void acquire() {
    AcquireOptions options;
    options.requeue = scenario_.requeue;
    options.on_position = [this](std::size_t, const Participant&) { happen(); };
    const auto ended = [this](error_code error, Lease lease) {
      arrived_ = true;
      verdict_.error = error;
      lease_ = std::move(lease);
      verdict_.granted = static_cast<bool>(lease_);
    };
    auto unlimited = asio::bind_cancellation_slot(signal_.slot(), ended);
    if (scenario_.face == Face::downgrade) {
      return locks_->read().async_acquire(write_lease_, unlimited);
    }
    locks_->with(scenario_.recipe, [&](auto& lock) {
      if (scenario_.face == Face::acquire) return lock.async_acquire(options, unlimited);
      auto limited = asio::bind_cancellation_slot(signal_.slot(),
                                                  [ended](error_code error, AcquireResult result) {
                                                    ended(error, std::move(result.lease));
                                                  });
      if (scenario_.face == Face::try_acquire) return lock.async_try_acquire(options, limited);
      lock.async_try_acquire_until(brief_limit, options, limited);
    });
  }

  /// The nodes of all contenders, by their paths below the lock's.
  [[nodiscard]] std::vector<std::string> contenders() const {
    if (scenario_.recipe != Recipe::semaphore_mutex) return world_.ensemble.children(lock_path);
    std::vector<std::string> nodes;
    for (const std::string part : {"locks", "leases"}) {
      for (const std::string& name : world_.ensemble.children(lock_path + ("/" + part))) {
        nodes.push_back(std::string{part}.append("/").append(name));
      }
    }
    return nodes;
  }

  /// Brings the incident about, once.
  void happen() {
    if (std::exchange(happened_, true)) return;
    switch (scenario_.incident) {
      case Incident::none: return;
      case Incident::holder_releases: break;
      case Incident::holders_node_deleted: return world_.remove(others_lease_.node());
      case Incident::own_session_expires: world_.ensemble.expire(observed_->session().id); break;
      case Incident::own_node_deleted:
        for (const std::string& name : contenders()) {
          const std::string node = std::string{lock_path} + "/" + name;
          if (world_.ensemble.operate(request::Get{node}).data == "observed") world_.remove(node);
        }
        break;
    }
    others_lease_.release();
  }

  void judge_ending() {
    if (!arrived_) return;
    const error_code error = verdict_.error;
    if (lease_ && error) complain("a lease with an error");
    if (lease_) {
      session_ = observed_->session().id;
      if (session_alive()) check_grant();
      return;
    }
    if (cancel_ && error == asio::error::operation_aborted) return;
    if (std::ranges::find(scenario_.expected, error) != scenario_.expected.end()) return;
    const auto& of_expiry = scenario_.expected_of_expiry;
    if (expires_ && std::ranges::find(of_expiry, error) != of_expiry.end()) return;
    // A try sends each request only once, so a fault may end it without a lease.
    if (scenario_.face == Face::try_acquire && faulty_ && !error) return;
    complain("no lease, but: " + error.message());
  }

  void check_grant() {
    if (!world_.ensemble.exists(lease_.node())) {
      if (scenario_.incident != Incident::own_node_deleted) complain("a lease on a missing node");
      // The node was deleted just before the grant. Only a beat would tell the holder, and there
      // are no beats here.
      return lease_.release();
    }
    const bool may_share = scenario_.recipe == Recipe::reader && scenario_.others == Recipe::reader;
    if (others_lease_ && !may_share && scenario_.incident != Incident::holders_node_deleted) {
      complain("two hold the lock");
    }
    for (const std::string& name : contenders()) {
      if (name.starts_with("locks/")) continue;  // the queue for the lock, not its holders
      const auto number = [](const std::string& text) { return text.substr(text.size() - 10); };
      if (std::ranges::find(before_, name) != before_.end()) continue;
      const bool harmless = name.find("__READ__") != std::string::npos;
      if (harmless && scenario_.recipe == Recipe::reader) continue;
      if (number(name) < number(lease_.node())) {
        complain("a lower contender lives: " + name);
      }
    }
  }

  [[nodiscard]] bool session_alive() const {
    const auto alive = world_.ensemble.sessions();
    return std::ranges::find(alive, session_) != alive.end();
  }

  /// Checks that another contender gets the lock when it is free, and not before.
  void let_others_in() {
    if (!verdict_.violation.empty()) return;
    if (!lease_ || scenario_.others == Recipe::reader) others_lease_.release();
    let_go_of_the_write_lock();
    if (scenario_.neighbours == Neighbours::malformed ||
        scenario_.neighbours == Neighbours::end_of_sequence) {
      return;
    }
    bool waits = false;
    AcquireOptions options;
    options.on_position = [&waits](auto&&...) { waits = true; };
    Outcome<Lease> probe;
    others_locks_->with(exclusive(scenario_.recipe),
                        [&](auto& lock) { lock.async_acquire(options, probe.handler()); });
    if (lease_) {
      world_.run_until([&] { return waits || probe.arrived(); });
      // Deleting a holder's node grants the lock to the next contender.
      const bool deleted = scenario_.incident == Incident::own_node_deleted && happened_;
      if (probe.arrived() && !deleted && lease_.state() == LeaseState::held && session_alive()) {
        complain("another got the lock while it was held");
      }
    }
    const FencingToken token = lease_.token();
    lease_.release();
    others_lease_.release();
    if (!world_.run_until_arrived(probe)) return complain("after the end another waits for ever");
    if (probe.error()) return complain("another fails: " + probe.error().message());
    if (probe.result().token() <= token) complain("the token did not grow");
    probe.result().release();
  }

  /// Releases the write lock, which must still be held however the downgrade ended.
  void let_go_of_the_write_lock() {
    if (scenario_.face != Face::downgrade) return;
    const bool undisturbed = !expires_ && scenario_.incident == Incident::none;
    if (undisturbed && write_lease_.state() == LeaseState::lost) complain("the write lock is lost");
    if (undisturbed && !world_.ensemble.exists(write_lease_.node())) {
      complain("the writer's node is gone");
    }
    write_lease_.release();
  }

  void leave_nothing() {
    lease_.release();
    if (!world_.run_until_idle(*observed_))
      complain("operations or watches are left in the client");
    if (!world_.run_until_idle(*other_)) complain("operations or watches are left in the other");
    if (contenders() != before_) complain("a node is left");
    if (world_.strays != 0) complain("a node was left to be found later");
    if (world_.ensemble.watches() != 0) complain("a watch is left on the server");
    locks_.reset();
    others_locks_.reset();
    if (!world_.end(observed_) || !world_.end(other_)) complain("something keeps a client alive");
    if (!world_.ensemble.sessions().empty()) complain("a session is left");
  }

  const Scenario& scenario_;
  const std::optional<Cancel> cancel_;
  const bool faulty_;
  const bool expires_;
  const std::shared_ptr<FaultsAt> plan_;
  asio::cancellation_signal signal_;
  World world_;
  std::unique_ptr<Client> observed_;
  std::unique_ptr<Client> other_;
  std::optional<Locks> locks_;
  std::optional<Locks> others_locks_;
  std::vector<std::string> before_;
  Lease others_lease_;
  Lease write_lease_;
  Lease lease_;
  std::int64_t session_ = 0;
  bool arrived_ = false;
  bool happened_ = false;
  Verdict verdict_;
};

}  // namespace

Verdict play(const Scenario& scenario, Faults faults, std::optional<Cancel> cancel) {
  return Play{scenario, std::move(faults), cancel}.run();
}

}  // namespace custodian::tests
