// Acquires of any stripe through every fault at every request, and every cancellation: each gets
// one stripe or none, and no node is left in any of the queues.

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <iostream>

#include "custodian/locks/striped_mutex.hpp"
#include "scripted/lock_play.hpp"
#include "scripted/locks/stock.hpp"
#include "support/catch.hpp"

namespace custodian::tests::striped_mutex_faults_test {

namespace asio = boost::asio;
using namespace stock;

namespace {

/// What happens while the acquire waits in both queues.
enum class Incident {
  none,
  first_is_released,  ///< the holder in the queue that the acquire joined first releases
  last_is_released,
  both_are_released,
  own_node_is_deleted,  ///< an operator deletes the acquire's node in the queue that it joined
                        ///< first
  session_expires,  ///< the acquire's session expires; then the holder in the other queue releases
};

struct Play {
  Face face = Face::acquire;
  Incident incident = Incident::none;
  RequeuePolicy requeue = RequeuePolicy::queue_again;
};

/// The result of a run; `fault` is empty if all is well.
struct Run {
  std::string fault;
  std::size_t steps = 0;
  error_code error{};
  bool granted = false;
};

/// "other" holds both stripes, and "observed" wants one.
class Stock {
 public:
  Stock(Play play, const Faults& faults, std::optional<Cancel> cancel)
      : play_{play},
        cancel_{cancel},
        plan_{std::make_shared<FaultsAt>("observed", faults)},
        faulty_{!faults.empty()} {}

  Run run() {
    other_ = world_.client("other");
    observed_ = world_.client("observed");
    others_.emplace(*other_, path, stripes);
    mine_.emplace(*observed_, path, stripes);
    for (std::size_t i = 0; i < stripes; ++i) hold(i);
    plan_->submitted = cancel_at(CancelMoment::request_sent);
    plan_->replying = cancel_at(CancelMoment::before_reply);
    plan_->replied = cancel_at(CancelMoment::after_reply);
    world_.ensemble.set_fault_plan(plan_);
    acquire();
    if (!world_.run_until_arrived(any_)) return {.fault = "the acquire does not end"};
    result_.error = any_.error();
    result_.granted = static_cast<bool>(any_.result());
    judge();
    if (!world_.run_until([this] { return own_nodes() <= (result_.granted ? 1 : 0); })) {
      complain("it stands in lines that it needs no more");
    }
    let_others_in();
    leave_nothing();
    result_.steps = plan_->steps();
    return result_;
  }

 private:
  void complain(const std::string& what) {
    if (result_.fault.empty()) result_.fault = what;
  }

  void hold(std::size_t index) {
    auto holding =
        tests::run<Lease>(world_, [&](auto done) { (*others_)[index].async_acquire(done); });
    if (!holding.arrived() || holding.error()) return complain("who is to hold it does not get it");
    held_.at(index) = std::move(holding.result());
  }

  std::function<void(std::size_t)> cancel_at(CancelMoment moment) {
    return [this, moment](std::size_t step) {
      if (!cancel_ || cancel_->moment != moment || cancel_->at != step) return;
      if (moment != CancelMoment::request_sent) return signal_.emit(asio::cancellation_type::all);
      asio::post(observed_->get_executor(), [this] { signal_.emit(asio::cancellation_type::all); });
    };
  }

  void acquire() {
    AcquireOptions options;
    options.requeue = play_.requeue;
    options.on_position = [this](std::size_t, const Participant& nearest) { waits_for(nearest); };
    auto handler = asio::bind_cancellation_slot(signal_.slot(), any_.handler());
    if (play_.face == Face::acquire) mine_->async_acquire_any(options, handler);
    if (play_.face == Face::try_acquire) mine_->async_try_acquire_any(options, handler);
    if (play_.face == Face::timed) {
      mine_->async_try_acquire_any_until(brief_limit, options, handler);
    }
  }

  void waits_for(const Participant& nearest) {
    for (std::size_t i = 0; i < stripes; ++i) {
      const bool known = std::ranges::find(waits_at_, i) != waits_at_.end();
      if (!known && nearest.node.starts_with(stripe_path(i))) waits_at_.push_back(i);
    }
    if (waits_at_.size() == stripes && !std::exchange(happened_, true)) happen();
  }

  void happen() {
    switch (play_.incident) {
      case Incident::none: return;
      case Incident::first_is_released: return held_.at(waits_at_.front()).release();
      case Incident::last_is_released: return held_.at(waits_at_.back()).release();
      case Incident::both_are_released:
        for (Lease& lease : held_) lease.release();
        return;
      case Incident::own_node_is_deleted:
        for (const std::string& node : nodes(world_)) {
          const bool here = node.starts_with(stripe_path(waits_at_.front()));
          if (here && is_own(node)) world_.remove(node);
        }
        // If a fault has ended the session as well, the acquire queues again, and needs a free
        // stripe.
        if (faulty_) held_.at(waits_at_.back()).release();
        return;
      case Incident::session_expires:
        world_.ensemble.expire(observed_->session().id);
        return held_.at(waits_at_.back()).release();
    }
  }

  [[nodiscard]] bool is_own(const std::string& node) {
    return world_.ensemble.operate(request::Get{node}).data == "observed";
  }
  [[nodiscard]] std::ptrdiff_t own_nodes() {
    return std::ranges::count_if(nodes(world_), [this](auto& node) { return is_own(node); });
  }

  [[nodiscard]] bool excused() const {
    const error_code error = any_.error();
    if (cancel_ && error == asio::error::operation_aborted) return true;
    switch (play_.face) {
      case Face::try_acquire:
      case Face::timed: return !error && any_.result().reason != NotAcquired::none;
      default: break;
    }
    if (play_.incident == Incident::own_node_is_deleted && error == Errc::node_deleted) return true;
    return play_.requeue == RequeuePolicy::fail && error == Errc::session_lost;
  }

  void judge() {
    if (!result_.granted) {
      if (!excused()) complain("no stripe, but: " + any_.error().message());
      return;
    }
    if (any_.error()) complain("a stripe with an error");
    const StripeLease& any = any_.result();
    if (any.index >= stripes) return complain("a stripe that there is not");
    if (!any.lease.node().starts_with(stripe_path(any.index) + "/")) {
      complain("the lease is not of the stripe that it tells");
    }
    if (held_.at(any.index)) complain("two hold the stripe");
  }

  /// Checks that another client gets each stripe when it is free, and not before: no node of the
  /// acquire is left in front.
  void let_others_in() {
    const std::size_t mine = result_.granted ? any_.result().index : stripes;
    for (std::size_t i = 0; i < stripes; ++i) {
      held_.at(i).release();
      bool waits = false;
      AcquireOptions options;
      options.on_position = [&waits](auto&&...) { waits = true; };
      Outcome<Lease> probe;
      (*others_)[i].async_acquire(options, probe.handler());
      if (i == mine) {
        world_.run_until([&] { return waits || probe.arrived(); });
        if (probe.arrived() && any_.result().lease.state() == LeaseState::held) {
          complain("another got the stripe while it was held");
        }
        any_.result().lease.release();
      }
      if (!world_.run_until_arrived(probe)) return complain("after the end another waits for ever");
      if (probe.error()) return complain("another fails: " + probe.error().message());
      probe.result().release();
    }
  }

  void leave_nothing() {
    if (!world_.run_until_idle(*observed_)) complain("operations or watches are left");
    if (!world_.run_until_idle(*other_)) complain("operations or watches are left in the other");
    if (!nodes(world_).empty()) complain("a node is left: " + nodes(world_).front());
    if (world_.ensemble.watches() != 0) complain("a watch is left on the server");
    plan_->submitted = plan_->replying = plan_->replied = nullptr;
    mine_.reset();
    others_.reset();
    if (!world_.end(observed_) || !world_.end(other_)) complain("something keeps a client alive");
  }

  const Play play_;
  const std::optional<Cancel> cancel_;
  const std::shared_ptr<FaultsAt> plan_;
  const bool faulty_;
  asio::cancellation_signal signal_;
  World world_;
  std::unique_ptr<Client> other_;
  std::unique_ptr<Client> observed_;
  std::optional<StripedMutex> others_;
  std::optional<StripedMutex> mine_;
  std::array<Lease, stripes> held_;
  std::vector<std::size_t> waits_at_;
  bool happened_ = false;
  Outcome<StripeLease> any_;
  Run result_;
};

Run run_stock(Play play, const Faults& faults = {}, std::optional<Cancel> cancel = {}) {
  return Stock{play, faults, cancel}.run();
}

void check(const Run& run, const std::string& what) {
  if (!run.fault.empty()) FAIL_CHECK(what << ": " << run.fault);
}

void play_faults(const Play& play, const std::string& name) {
  const Run plain = run_stock(play);
  check(plain, name);
  std::size_t cases = 1;
  for (std::size_t at = 0; at < plain.steps; ++at) {
    for (const Fault& fault : sampled(all_faults())) {
      check(run_stock(play, {{at, fault}}),
            name + ", request " + std::to_string(at) + ": " + describe(fault));
      ++cases;
    }
  }
  std::cout << "  " << cases << " cases: any stripe, " << name << ", each fault at each request\n";
}

TEST_CASE("striped: any stripe that is released first is had, through every fault", "[striped]") {
  CHECK(run_stock({.incident = Incident::first_is_released}).granted);
  CHECK(run_stock({.incident = Incident::last_is_released}).granted);
  play_faults({.incident = Incident::first_is_released}, "the first is released");
  play_faults({.incident = Incident::last_is_released}, "the last is released");
}

TEST_CASE("striped: of two stripes that are granted at once one is released again", "[striped]") {
  CHECK(run_stock({.incident = Incident::both_are_released}).granted);
  play_faults({.incident = Incident::both_are_released}, "both are released");
}

TEST_CASE("striped: who only tries or is late leaves nothing behind, through every fault",
          "[striped]") {
  play_faults({.face = Face::try_acquire}, "only tried");
  play_faults({.face = Face::timed}, "late");
}

TEST_CASE("striped: who loses its session queues at all stripes again, or says so", "[striped]") {
  CHECK(run_stock({.incident = Incident::session_expires}).granted);
  play_faults({.incident = Incident::session_expires}, "its session expires");
  const Play fails{.incident = Incident::session_expires, .requeue = RequeuePolicy::fail};
  CHECK(run_stock(fails).error == Errc::session_lost);
  play_faults(fails, "its session expires, and it gives up");
}

TEST_CASE("striped: whose node is deleted in one line leaves the other, and says so", "[striped]") {
  const Play deleted{.incident = Incident::own_node_is_deleted};
  CHECK(run_stock(deleted).error == Errc::node_deleted);
  play_faults(deleted, "its node is deleted");
}

TEST_CASE("striped: an acquire of any is cancelled at each moment, beside every fault",
          "[striped]") {
  const Play play{.incident = Incident::last_is_released};
  const std::size_t steps = run_stock(play).steps;
  std::size_t cases = 0;
  using enum CancelMoment;
  for (std::size_t at = 0; at < steps; ++at) {
    for (const CancelMoment moment : {request_sent, before_reply, after_reply}) {
      check(run_stock(play, {}, Cancel{moment, at}), "cancelled at " + std::to_string(at));
      ++cases;
      for (std::size_t fault_at = 0; fault_at < steps; ++fault_at) {
        for (const Fault& fault : sampled(all_faults())) {
          check(run_stock(play, {{fault_at, fault}}, Cancel{moment, at}),
                "request " + std::to_string(fault_at) + ": " + describe(fault) + "; cancelled at " +
                    std::to_string(at));
          ++cases;
        }
      }
    }
  }
  std::cout << "  " << cases << " cases: any stripe, cancelled at each moment\n";
}

}  // namespace
}  // namespace custodian::tests::striped_mutex_faults_test
