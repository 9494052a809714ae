// A lock whose path moves, with a fault at each request to either home, cancelled at each, and
// released at each.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include "scripted/cancel_moment.hpp"
#include "scripted/ensembles/moving_mutex_process.hpp"
#include "scripted/plays.hpp"

namespace custodian::tests::moving_mutex_faults_test {
namespace {

namespace asio = boost::asio;
using namespace moving_world;
using namespace moving_mutex_process;

struct Scene {
  const char* name;
  std::int64_t version;  ///< when the acquire begins
  /// Where another contender is in front; nothing if the lock is free.
  std::optional<std::size_t> blocked_at;
  std::int64_t published_in_wait;  ///< the version to which the map moves before it is granted
  std::int64_t published_in_hold;  ///< and before it is released
};

constexpr Scene scenes[] = {
    {"free, before the move", 3, {}, 3, 6},
    {"free, moving", 4, {}, 4, 4},
    {"free, turned", 5, {}, 5, 6},
    {"blocked at the old home until it moves", 3, 0, 4, 6},
    {"blocked at the old home until it has moved", 3, 0, 6, 6},
    {"blocked at the new home until it has moved", 4, 1, 6, 6},
    {"blocked at the new home while it moves", 4, 1, 5, 6},
    {"held from there and back", 4, {}, 4, 9},
};

struct MutexCase {
  Scene scene;
  std::size_t faulty_ensemble = 0;
  Faults faults{};
  std::optional<std::pair<CancelMoment, std::size_t>> cancel{};
  std::optional<std::size_t> release_at{};
};

struct MutexRun {
  std::string violation{};
  std::size_t steps = 0;
};

std::string describe(const MutexCase& played) {
  std::string text = played.scene.name;
  text += disturbance_at(played.faulty_ensemble, played.faults, played.cancel);
  if (played.release_at) text += "; released at " + std::to_string(*played.release_at);
  return text;
}

bool ends_session(const Fault& fault) {
  return fault.kind == FaultKind::expire_before || fault.kind == FaultKind::expire_after;
}

class MutexPlay {
 public:
  explicit MutexPlay(const MutexCase& played)
      : case_{played},
        plan_{std::make_shared<FaultsAt>(std::string{"mine-"} + names.at(played.faulty_ensemble),
                                         played.faults)} {}

  MutexRun run() {
    make_map(ensembles_);
    publish_by_hand(ensembles_, case_.scene.version, 1);
    if (case_.scene.blocked_at) make_contender(ensembles_, *case_.scene.blocked_at);
    ensembles_.world.settle();
    prepare();
    mine_.mutex->async_acquire(asio::bind_cancellation_slot(signal_.slot(), lease_.handler()));
    wait_in_queue();
    publish_by_hand(ensembles_, case_.scene.published_in_wait, 1);
    wait_in_queue();
    if (case_.scene.blocked_at) remove_contender(ensembles_, *case_.scene.blocked_at);
    if (!ensembles_.world.run_until_arrived(lease_)) return {"it does not end"};
    hold();
    run_.steps = plan_->steps();
    plan_->submitted = plan_->replying = plan_->replied = nullptr;
    release();
    leave_nothing();
    return run_;
  }

 private:
  void complain(const std::string& what) {
    if (run_.violation.empty()) run_.violation = what;
  }

  void prepare() {
    const auto at_moment = [this](CancelMoment moment) {
      return [this, moment](std::size_t step) {
        if (moment == CancelMoment::before_reply && case_.release_at == step) release();
        if (case_.cancel != std::pair{moment, step}) return;
        if (moment != CancelMoment::request_sent) return signal_.emit(asio::cancellation_type::all);
        asio::post(ensembles_.world.context,
                   [this] { signal_.emit(asio::cancellation_type::all); });
      };
    };
    plan_->submitted = at_moment(CancelMoment::request_sent);
    plan_->replying = at_moment(CancelMoment::before_reply);
    plan_->replied = at_moment(CancelMoment::after_reply);
    ensembles_.all.at(case_.faulty_ensemble)->set_fault_plan(plan_);
  }

  /// Waits until the acquire has ended, or has settled in its queue.
  void wait_in_queue() {
    if (!case_.scene.blocked_at) return;
    const auto stands = [&] { return nodes_at(ensembles_, *case_.scene.blocked_at) == 2; };
    const std::int64_t version = copy_at(ensembles_, 0)->version;
    const auto has_left = [&] {
      return version >= 6 && mine_.map->version() == version && *case_.scene.blocked_at == 0;
    };
    ensembles_.world.run_until([&] { return lease_.arrived() || stands() || has_left(); });
  }

  [[nodiscard]] bool may_lose() const {
    return std::ranges::any_of(case_.faults,
                               [](const auto& each) { return ends_session(each.second); });
  }

  /// Moves the map on while the lock is held, until the hold has what it needs.
  void hold() {
    const error_code error = lease_.error();
    MovingLease& lease = lease_.result();
    if (!lease) {
      if (case_.cancel && error == asio::error::operation_aborted) return;
      return complain("it fails: " + error.message());
    }
    if (error) complain("a lease with an error");
    const FencingToken token = lease.token();
    if (token.epoch >> 32 == 0 || token.value == 0) complain("a lease without a token");
    while (copy_at(ensembles_, 0)->version < case_.scene.published_in_hold) {
      const std::int64_t next = copy_at(ensembles_, 0)->version + 1;
      publish_by_hand(ensembles_, next, next > 6 ? 0 : 1);
      const bool settled = ensembles_.world.run_until([&] {
        if (!lease || lease.state() == LeaseState::lost) return true;
        return mine_.map->version() == next && lease.homes() == mine_.map->homes_of(moving_path);
      });
      if (!settled) complain("the hold does not follow version " + std::to_string(next));
    }
    if (case_.release_at && !lease) return;
    if (lease.state() == LeaseState::lost && !may_lose()) complain("the lease is lost");
    if (lease.token() != token) complain("the token has changed");
  }

  void release() {
    if (lease_.arrived()) lease_.result().release();
  }

  /// Checks that another process gets the lock with a greater token, so that nothing is in front.
  void leave_nothing() {
    for (testing::FakeEnsemble* each : ensembles_.all) each->release_replies();
    const auto rest = (copy_at(ensembles_, 0)->version + 2) / 3 * 3;
    publish_by_hand(ensembles_, rest, 1);
    Outcome<MovingLease> probe;
    other_.mutex->async_acquire(probe.handler());
    if (!ensembles_.world.run_until_arrived(probe)) return complain("another waits for ever");
    if (probe.error()) return complain("another fails: " + probe.error().message());
    probe.result().release();
    if (!mine_.end(ensembles_)) complain("something is left, or keeps a client alive");
    if (!other_.end(ensembles_)) complain("something is left in the other process");
    for (std::size_t at = 0; at < 2; ++at) {
      if (nodes_at(ensembles_, at) > 0) complain("a node is left");
      if (!members_at(ensembles_, at).empty()) complain("a member is left");
      if (ensembles_.all.at(at)->watches() != 0) complain("a watch is left");
    }
  }

  const MutexCase case_;
  const std::shared_ptr<FaultsAt> plan_;
  asio::cancellation_signal signal_;
  Ensembles ensembles_;
  LockProcess mine_{ensembles_, "mine"};
  LockProcess other_{ensembles_, "other"};
  Outcome<MovingLease> lease_;
  MutexRun run_;
};

class Tally : public Plays {
 public:
  using Plays::Plays;

  std::size_t play(const MutexCase& played) {
    const MutexRun run = MutexPlay{played}.run();
    add(run.violation, [&] { return describe(played); });
    return run.steps;
  }
};

TEST_CASE("moving mutex: every fault at every request leaves the lock as it is", "[ensembles]") {
  Tally tally{"a lock that moves, one fault"};
  for (const Scene& scene : scenes) {
    for (const std::size_t ensemble : {0U, 1U}) {
      MutexCase each{.scene = scene, .faulty_ensemble = ensemble};
      const std::size_t steps = tally.play(each);
      for (std::size_t at = 0; at < steps; ++at) {
        for (const Fault& fault : sampled(all_faults())) {
          each.faults = {{at, fault}};
          tally.play(each);
        }
      }
    }
  }
}

TEST_CASE("moving mutex: a cancelled acquire ends at every moment, and leaves nothing",
          "[ensembles]") {
  Tally tally{"a lock that moves, cancelled"};
  for (const Scene& scene : scenes) {
    for (const std::size_t ensemble : {0U, 1U}) {
      MutexCase each{.scene = scene, .faulty_ensemble = ensemble};
      const std::size_t steps = tally.play(each);
      for (std::size_t at = 0; at < steps; ++at) {
        for (const CancelMoment moment :
             {CancelMoment::request_sent, CancelMoment::before_reply, CancelMoment::after_reply}) {
          each.cancel = std::pair{moment, at};
          tally.play(each);
        }
      }
    }
  }
}

TEST_CASE("moving mutex: a lease that is released at any moment of a move leaves nothing",
          "[ensembles]") {
  Tally tally{"a lock that moves, released"};
  for (const Scene& scene : scenes) {
    for (const std::size_t ensemble : {0U, 1U}) {
      MutexCase each{.scene = scene, .faulty_ensemble = ensemble};
      const std::size_t steps = tally.play(each);
      for (std::size_t at = 0; at < steps; ++at) {
        each.release_at = at;
        tally.play(each);
      }
    }
  }
}

TEST_CASE("moving mutex: every pair of faults leaves the lock as it is", "[ensembles]") {
  Tally tally{"a lock that moves, two faults"};
  Sample sample;
  for (const std::size_t ensemble : {0U, 1U}) {
    MutexCase each{.scene = scenes[0], .faulty_ensemble = ensemble};
    const std::size_t steps = tally.play(each);
    for (std::size_t at = 0; at < steps; ++at) {
      for (const Fault& fault : all_faults()) {
        for (const Fault& another : all_faults()) {
          if (!sample.takes_next()) continue;
          each.faults = {{at, fault}, {at + 1, another}};
          tally.play(each);
        }
      }
    }
  }
}

}  // namespace
}  // namespace custodian::tests::moving_mutex_faults_test
