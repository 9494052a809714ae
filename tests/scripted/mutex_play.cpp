#include "mutex_play.hpp"

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <limits>

namespace custodian::tests {

namespace asio = boost::asio;

namespace {

constexpr auto lock_path = "/locks/one";

class Play {
 public:
  Play(const Scenario& scenario, Faults faults, std::optional<Cancel> cancel)
      : scenario_{scenario},
        cancel_{cancel},
        faulty_{!faults.empty()},
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
    observed_ = world_.client("observed");
    others_mutex_.emplace(*other_, lock_path);
    mutex_.emplace(*observed_, lock_path);
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
    before_ = world_.ensemble.children(lock_path);
    if (scenario_.held) {
      auto holding =
          tests::run<Lease>(world_, [&](auto done) { others_mutex_->async_acquire(done); });
      if (!holding.arrived() || holding.error()) return complain("the other did not get the lock");
      others_lease_ = std::move(holding.result());
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
    if (scenario_.face == Face::acquire) {
      return mutex_->async_acquire(options, asio::bind_cancellation_slot(signal_.slot(), ended));
    }
    auto limited = asio::bind_cancellation_slot(
        signal_.slot(),
        [ended](error_code error, AcquireResult result) { ended(error, std::move(result.lease)); });
    if (scenario_.face == Face::try_acquire)
      return mutex_->async_try_acquire(options, std::move(limited));
    mutex_->async_try_acquire_until(std::chrono::milliseconds{5}, options, std::move(limited));
  }

  /// The incident, once.
  void happen() {
    if (std::exchange(happened_, true)) return;
    switch (scenario_.incident) {
      case Incident::none: return;
      case Incident::holder_releases: break;
      case Incident::holders_node_deleted: return world_.remove(others_lease_.node());
      case Incident::own_session_expires: world_.ensemble.expire(observed_->session().id); break;
      case Incident::own_node_deleted:
        for (const std::string& name : world_.ensemble.children(lock_path)) {
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
    // Who asks only once is told of the fault.
    if (scenario_.face == Face::try_acquire && faulty_ && error) return;
    complain("no lease, but: " + error.message());
  }

  void check_grant() {
    if (!world_.ensemble.exists(lease_.node())) return complain("a lease on a node that is gone");
    if (others_lease_ && scenario_.incident != Incident::holders_node_deleted) {
      complain("two hold the lock");
    }
    for (const std::string& name : world_.ensemble.children(lock_path)) {
      const auto number = [](const std::string& text) { return text.substr(text.size() - 10); };
      if (std::ranges::find(before_, name) != before_.end()) continue;
      if (number(name) < number(lease_.node())) {
        complain("a lower contender lives: " + name);
      }
    }
  }

  [[nodiscard]] bool session_alive() const {
    const auto alive = world_.ensemble.sessions();
    return std::ranges::find(alive, session_) != alive.end();
  }

  /// Another contender gets the lock exactly when it should.
  void let_others_in() {
    if (!verdict_.violation.empty()) return;
    if (!lease_) others_lease_.release();
    if (scenario_.neighbours == Neighbours::malformed ||
        scenario_.neighbours == Neighbours::end_of_sequence) {
      return;
    }
    bool waits = false;
    AcquireOptions options;
    options.on_position = [&waits](auto&&...) { waits = true; };
    Outcome<Lease> probe;
    others_mutex_->async_acquire(options, probe.handler());
    if (lease_) {
      world_.run_until([&] { return waits || probe.arrived(); });
      if (probe.arrived() && lease_.state() == LeaseState::held && session_alive()) {
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

  void leave_nothing() {
    lease_.release();
    if (!world_.run_until_idle(*observed_))
      complain("operations or watches are left in the client");
    if (!world_.run_until_idle(*other_)) complain("operations or watches are left in the other");
    if (world_.ensemble.children(lock_path) != before_) complain("a node is left");
    if (world_.ensemble.watches() != 0) complain("a watch is left on the server");
    mutex_.reset();
    others_mutex_.reset();
    if (!world_.end(observed_) || !world_.end(other_)) complain("something keeps a client alive");
    if (!world_.ensemble.sessions().empty()) complain("a session is left");
  }

  const Scenario& scenario_;
  const std::optional<Cancel> cancel_;
  const bool faulty_;
  const std::shared_ptr<FaultsAt> plan_;
  asio::cancellation_signal signal_;
  World world_;
  std::unique_ptr<Client> observed_;
  std::unique_ptr<Client> other_;
  std::optional<InterProcessMutex> mutex_;
  std::optional<InterProcessMutex> others_mutex_;
  std::vector<std::string> before_;
  Lease others_lease_;
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
