// Readers that share a node, through every fault and every cancellation at every request of their
// client.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <list>

#include "ordering/lock_spec.hpp"
#include "scripted/kept/shared.hpp"

namespace custodian::tests::shared_readers_faults_test {

using namespace std::chrono_literals;

namespace {

/// One play: readers come, one after the other and together, beside writers of their client and of
/// another one.
class Play {
 public:
  explicit Play(LockOptions options) : options_{std::move(options)} {}

  /// Cancels a reader at this request.
  std::optional<std::size_t> cancel_at{};
  /// Ends the client's session there.
  std::optional<std::size_t> expire_at{};

  /// Returns what was violated; empty if all is well.
  std::string with(std::vector<std::pair<std::size_t, Fault>> faults) {
    World world;
    world_ = &world;
    auto mine = world.client_that_counts_strays("mine");
    auto other = world.client("other");
    const auto plan = std::make_shared<FaultsAt>("mine", std::move(faults));
    plan->submitted = [&](std::size_t step) {
      if (cancel_at == step) emit_at_ = true;
      if (expire_at == step) expire_now_ = true;
    };
    world.ensemble.set_fault_plan(plan);
    violation_.clear();
    turns_.clear();
    session_of_ = mine.get();
    {
      InterProcessReadWriteLock book{*mine, "/book", options_};
      InterProcessReadWriteLock others{*other, "/book"};
      begin(book.read());
      serve_all();
      // Readers, a writer behind them, and readers behind that.
      begin(book.read(), true);
      begin(book.read());
      begin(others.write());
      begin(book.read());
      begin(book.write());
      begin(book.read());
      begin(book.read());
      serve_all();
      begin(others.write());
      run_some();
      begin(book.read());
      begin(book.read());
      begin(book.read());
      serve_all();
    }
    mine->release_kept_locks();
    expect(world.run_until_idle(*mine), "the client comes to rest");
    expect(world.run_until_idle(*other), "the other one, too");
    steps = plan->steps();
    world.ensemble.set_fault_plan(nullptr);
    expect(world.run_until([&] { return world.ensemble.children("/book").empty(); }),
           "no node is left");
    expect(mine->kept_locks() == 0, "nothing is kept");
    expect(world.ensemble.watches() == 0, "no watch is left");
    expect(world.strays == 0, "no create was late");
    expect(world.end(mine), "nothing keeps the client");
    expect(world.end(other), "nothing keeps the other one");
    return violation_;
  }

  std::size_t steps = 0;

 private:
  struct Turn {
    Outcome<Lease> outcome;
    bool writes = false;
    bool may_be_cancelled = false;
    boost::asio::cancellation_signal cancel;
    [[nodiscard]] bool holds() const {
      return outcome.arrived() && !outcome.error() && outcome.result().state() == LeaseState::held;
    }
  };

  void begin(InterProcessLock& lock, bool may_be_cancelled = false) {
    Turn& turn = turns_.emplace_back();
    turn.writes = lock.spec()->kind == recipes_detail::ContenderKind::exclusive;
    turn.may_be_cancelled = may_be_cancelled;
    lock.async_acquire(
        boost::asio::bind_cancellation_slot(turn.cancel.slot(), turn.outcome.handler()));
  }
  void interfere() {
    if (std::exchange(emit_at_, false)) {
      for (Turn& each : turns_) {
        if (each.may_be_cancelled) each.cancel.emit(boost::asio::cancellation_type::total);
      }
    }
    if (std::exchange(expire_now_, false)) world_->ensemble.expire(session_of_->session().id);
  }
  void run_some() {
    world_->settle();
    interfere();
    check();
  }
  /// All that have the lock release it, one after the other, until all had it.
  void serve_all() {
    while (!turns_.empty() && violation_.empty()) {
      const auto next = [&] {
        interfere();
        return std::ranges::find_if(turns_,
                                    [](const Turn& each) { return each.outcome.arrived(); });
      };
      if (!world_->run_until([&] { return next() != turns_.end(); })) {
        return expect(false, "all have their turn");
      }
      run_some();
      const auto turn = next();
      end(*turn);
      turns_.erase(turn);
    }
  }
  void check() {
    const auto holders = std::ranges::count_if(turns_, &Turn::holds);
    const auto writers =
        std::ranges::count_if(turns_, [](const Turn& each) { return each.writes && each.holds(); });
    expect(writers == 0 || holders == 1, "a writer has the lock alone");
  }
  void end(const Turn& turn) {
    if (turn.outcome.error()) {
      const bool cancelled = turn.may_be_cancelled && cancel_at &&
                             turn.outcome.error() == boost::asio::error::operation_aborted;
      return expect(cancelled, "no turn fails: " + turn.outcome.error().message());
    }
    turn.outcome.result().release();
  }
  void expect(bool holds, const std::string& what) {
    if (!holds && violation_.empty()) violation_ = what;
  }

  LockOptions options_;
  std::string violation_;
  World* world_ = nullptr;
  const Client* session_of_ = nullptr;
  std::list<Turn> turns_;
  bool emit_at_ = false;
  bool expire_now_ = false;
};

std::size_t steps_of(const LockOptions& options) {
  Play play{options};
  CHECK(play.with({}) == "");
  CHECK(play.steps > 15);
  return play.steps;
}

const LockOptions shared{.share_readers = 64};
const LockOptions few{.share_readers = 2};
const LockOptions kept{.keep_idle_for = a_minute, .share_readers = 64};

void play_faults(const LockOptions& options) {
  const std::size_t steps = steps_of(options);
  for (std::size_t at = 0; at < steps + 2; ++at) {
    for (const Fault& fault : sampled(all_faults())) {
      const std::string violation = Play{options}.with({{at, fault}});
      INFO(describe(fault) << " at request " << at);
      CHECK(violation == "");
    }
  }
}

TEST_CASE("shared readers: they survive every fault") { play_faults(shared); }

TEST_CASE("shared readers: two to a node survive every fault") { play_faults(few); }

TEST_CASE("shared readers: a node that is kept survives every fault") { play_faults(kept); }

TEST_CASE("shared readers: one gives up at every request") {
  for (const LockOptions& options : {shared, kept}) {
    const std::size_t steps = steps_of(options);
    for (std::size_t at = 0; at < steps; ++at) {
      for (const FaultKind kind : {FaultKind::pass, FaultKind::fail_after}) {
        Play play{options};
        play.cancel_at = at;
        const std::string violation = play.with({{at, {.kind = kind}}});
        INFO(to_string(kind) << ", given up at request " << at);
        CHECK(violation == "");
      }
    }
  }
}

TEST_CASE("shared readers: the session ends at every request") {
  for (const LockOptions& options : {shared, kept}) {
    const std::size_t steps = steps_of(options);
    for (std::size_t at = 0; at < steps; ++at) {
      Play play{options};
      play.expire_at = at;
      const std::string violation = play.with({});
      INFO("ended at request " << at);
      CHECK(violation == "");
    }
  }
}

TEST_CASE("shared readers: pairs of faults") {
  Sample sample;
  const std::size_t steps = steps_of(kept);
  for (std::size_t first = 0; first < steps; ++first) {
    for (std::size_t gap = 1; gap < 8; ++gap) {
      for (const FaultKind one : {FaultKind::fail_before, FaultKind::fail_after}) {
        for (const FaultKind two :
             {FaultKind::fail_before, FaultKind::fail_after, FaultKind::expire_before}) {
          if (!sample.takes_next()) continue;
          const std::string violation =
              Play{kept}.with({{first, {.kind = one}}, {first + gap, {.kind = two}}});
          INFO(to_string(one) << " at request " << first << ", " << to_string(two) << " " << gap
                              << " later");
          CHECK(violation == "");
        }
      }
    }
  }
}

}  // namespace
}  // namespace custodian::tests::shared_readers_faults_test
