// A multi lock of two mutexes and two permits through every fault at every request, and every
// cancellation: all of them or none, and nothing left.

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <iostream>

#include "custodian/lock_sets/inter_process_multi_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/lock_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::multi_lock_faults_test {

namespace asio = boost::asio;

namespace {

constexpr int maximum = 3;

/// The nodes in all the locks.
std::vector<std::string> nodes(World& world) {
  std::vector<std::string> all;
  for (const std::string parent : {"/a", "/b", "/c/locks", "/c/leases"}) {
    for (const std::string& name : world.ensemble.children(parent)) {
      all.push_back(std::string{parent}.append("/").append(name));
    }
  }
  return all;
}

/// The locks of one client.
struct Locks {
  explicit Locks(const Client& client)
      : a{client, "/a"}, b{client, "/b"}, c{client, "/c", maximum} {}
  InterProcessMutex a;
  InterProcessMutex b;
  InterProcessSemaphore c;
  InterProcessMultiLock all{{a, b, {c, 2}}};
};

enum class Trouble { none, own_session_expires };

/// The result of a run; `fault` is empty if all is well.
struct Run {
  std::string fault{};
  std::size_t steps = 0;
  bool granted = false;
  error_code error{};
};

/// "other" holds the mutex in the middle, and "observed" wants all locks. When "observed" waits (a
/// mere try does not), the trouble happens; then "other" releases.
class Play {
 public:
  Play(Face face, const Faults& faults, std::optional<Cancel> cancel, Trouble trouble)
      : face_{face},
        faulty_{!faults.empty()},
        expires_{std::ranges::any_of(faults, ends_session, &Faults::value_type::second)},
        cancel_{cancel},
        trouble_{trouble},
        plan_{std::make_shared<FaultsAt>("observed", faults)} {}

  Run run() {
    other_ = world_.client("other");
    observed_ = world_.client("observed");
    others_.emplace(*other_);
    mine_.emplace(*observed_);
    auto holding =
        tests::run<Lease>(world_, [&](auto done) { others_->b.async_acquire(std::move(done)); });
    if (!holding.arrived() || holding.error()) return {"who is to hold the lock does not get it"};
    held_ = std::move(holding.result());
    arrange_cancellation();
    acquire();
    if (!world_.run_until([this] { return arrived_; })) return {"the acquire does not end"};
    judge_ending();
    let_others_in();
    leave_nothing();
    result_.steps = plan_->steps();
    return std::move(result_);
  }

 private:
  void complain(const std::string& what) {
    if (result_.fault.empty()) result_.fault = what;
  }

  void arrange_cancellation() {
    const auto cancel_at = [this](CancelMoment moment) {
      return [this, moment](std::size_t step) {
        if (!cancel_ || cancel_->moment != moment || cancel_->at != step) return;
        if (moment != CancelMoment::request_sent) return signal_.emit(asio::cancellation_type::all);
        asio::post(observed_->get_executor(),
                   [this] { signal_.emit(asio::cancellation_type::all); });
      };
    };
    plan_->submitted = cancel_at(CancelMoment::request_sent);
    plan_->replying = cancel_at(CancelMoment::before_reply);
    plan_->replied = cancel_at(CancelMoment::after_reply);
    world_.ensemble.set_fault_plan(plan_);
  }

  void acquire() {
    AcquireOptions options;
    if (face_ == Face::acquire) {
      options.on_position = [this](std::size_t, const Participant&) { happen(); };
    }
    const auto ended = [this](error_code error, GroupAcquireResult result) {
      arrived_ = true;
      result_.error = error;
      path_ = result.path;
      leases_ = std::move(result.leases);
    };
    auto all =
        asio::bind_cancellation_slot(signal_.slot(), [ended](error_code error, LeaseGroup leases) {
          ended(error, GroupAcquireResult{.leases = std::move(leases)});
        });
    auto limited = asio::bind_cancellation_slot(signal_.slot(), ended);
    if (face_ == Face::acquire) mine_->all.async_acquire(options, all);
    if (face_ == Face::try_acquire) mine_->all.async_try_acquire(options, limited);
    if (face_ == Face::timed) {
      mine_->all.async_try_acquire_until(brief_limit, options, limited);
    }
  }

  void happen() {
    if (std::exchange(happened_, true)) return;
    if (trouble_ == Trouble::own_session_expires) {
      world_.ensemble.expire(observed_->session().id);
    }
    held_.release();
  }

  void judge_ending() {
    result_.granted = static_cast<bool>(leases_);
    const error_code error = result_.error;
    if (leases_) {
      if (error) complain("leases with an error");
      if (leases_.leases().size() != 4 || leases_.needed() != 4) complain("some, and not all");
      const auto& alive = world_.ensemble;
      const bool exist = std::ranges::all_of(
          leases_.leases(), [&](const Lease& lease) { return alive.exists(lease.node()); });
      if (!exist && !expires_) complain("a node is missing");
      if (held_) complain("two hold the lock");
      return;
    }
    const bool excused = (cancel_ && error == asio::error::operation_aborted) ||
                         (face_ == Face::try_acquire && !error && (faulty_ || path_ == "/b")) ||
                         (face_ == Face::timed && !error);
    if (!excused) complain("no leases, but: " + error.message() + " at " + path_);
  }

  /// Checks that another client gets all locks when they are free, and not before.
  void let_others_in() {
    if (!result_.fault.empty()) return;
    held_.release();
    bool waits = false;
    AcquireOptions options;
    options.on_position = [&waits](auto&&...) { waits = true; };
    Outcome<LeaseGroup> probe;
    others_->all.async_acquire(options, probe.handler());
    if (!world_.run_until([&] { return waits || probe.arrived(); })) {
      return complain("another neither waits nor gets all");
    }
    world_.settle();
    if (leases_ && probe.arrived() && !expires_) complain("another got all while they were held");
    leases_.release();
    if (!world_.run_until_arrived(probe)) return complain("after the end another waits for ever");
    if (probe.error()) return complain("another fails: " + probe.error().message());
    probe.result().release();
  }

  void leave_nothing() {
    leases_.release();
    held_.release();
    if (!world_.run_until_idle(*observed_)) complain("operations or watches are left");
    if (!world_.run_until_idle(*other_)) complain("operations or watches are left in the other");
    if (!nodes(world_).empty()) complain("a node is left: " + nodes(world_).front());
    if (world_.ensemble.watches() != 0) complain("a watch is left on the server");
    plan_->submitted = plan_->replying = plan_->replied = nullptr;
    mine_.reset();
    others_.reset();
    if (!world_.end(observed_) || !world_.end(other_)) complain("something keeps a client alive");
    if (!world_.ensemble.sessions().empty()) complain("a session is left");
  }

  const Face face_;
  const bool faulty_;
  const bool expires_;  ///< a fault ends the session, which deletes the nodes of a grant
  const std::optional<Cancel> cancel_;
  const Trouble trouble_;
  const std::shared_ptr<FaultsAt> plan_;
  asio::cancellation_signal signal_;
  World world_;
  std::unique_ptr<Client> other_;
  std::unique_ptr<Client> observed_;
  std::optional<Locks> others_;
  std::optional<Locks> mine_;
  Lease held_;
  LeaseGroup leases_;
  std::string path_;
  bool arrived_ = false;
  bool happened_ = false;
  Run result_;
};

Run play(Face face, const Faults& faults = {}, std::optional<Cancel> cancel = {},
         Trouble trouble = Trouble::none) {
  return Play{face, faults, cancel, trouble}.run();
}

void check(const Run& run, const std::string& what) {
  if (!run.fault.empty()) FAIL_CHECK(what << ": " << run.fault);
}

TEST_CASE("multi lock: all are had or none, through every fault", "[multi]") {
  std::size_t cases = 0;
  for (const Face face : {Face::acquire, Face::try_acquire, Face::timed}) {
    const Run plain = play(face);
    check(plain, "no fault");
    CHECK(plain.granted == (face == Face::acquire));
    for (std::size_t at = 0; at < plain.steps; ++at) {
      for (const Fault& fault : sampled(all_faults())) {
        check(play(face, {{at, fault}}), "face " + std::to_string(static_cast<int>(face)) +
                                             ", request " + std::to_string(at) + ": " +
                                             describe(fault));
        ++cases;
      }
    }
  }
  std::cout << "  " << cases << " cases: a multi lock, each fault at each request\n";
}

TEST_CASE("multi lock: who loses its session while it waits begins again, through every fault",
          "[multi]") {
  const Run plain = play(Face::acquire, {}, {}, Trouble::own_session_expires);
  check(plain, "no fault");
  CHECK(plain.granted);
  std::size_t cases = 0;
  for (std::size_t at = 0; at < plain.steps; ++at) {
    for (const Fault& fault : sampled(all_faults())) {
      check(play(Face::acquire, {{at, fault}}, {}, Trouble::own_session_expires),
            "request " + std::to_string(at) + ": " + describe(fault));
      ++cases;
    }
  }
  std::cout << "  " << cases << " cases: a multi lock, its session lost meanwhile\n";
}

TEST_CASE("multi lock: cancelled at each moment, beside every fault", "[multi]") {
  const std::size_t steps = play(Face::acquire).steps;
  std::size_t cases = 0;
  using enum CancelMoment;
  for (std::size_t at = 0; at < steps; ++at) {
    for (const CancelMoment moment : {request_sent, before_reply, after_reply}) {
      const std::string what = "cancelled at " + std::to_string(at);
      check(play(Face::acquire, {}, Cancel{moment, at}), what);
      ++cases;
      for (const Fault& fault : sampled(all_faults())) {
        check(play(Face::acquire, {{at, fault}}, Cancel{moment, at}),
              what + ": " + describe(fault));
        ++cases;
      }
    }
  }
  std::cout << "  " << cases << " cases: a multi lock, cancelled at each moment\n";
}

}  // namespace
}  // namespace custodian::tests::multi_lock_faults_test
