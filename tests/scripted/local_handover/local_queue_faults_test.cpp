// Contenders of one client in a queue with those of another, with every fault at every request.

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <deque>
#include <memory>
#include <optional>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::local_queue_faults_test {
namespace {

/// The contenders in their order, a letter each. W and R are a writer and a reader of the client
/// that meets the faults, w and r of the other client; M and m contend for a mutex.
struct Line {
  std::string_view who;
  /// The number of acquires of each contender.
  std::size_t rounds = 1;
  /// Whether the acquires of one client are started together instead of one after the other.
  bool all_at_once = true;
  /// The option of the locks of the client that meets the faults.
  HandOff hand_off = HandOff::strict();
};

/// Incidents, each at the request with that number.
struct Mischief {
  Faults faults{};
  /// The request at which a waiter's node is deleted by hand.
  std::optional<std::size_t> deletion{};
  /// The request (first) at which a caller (second: its number) cancels its acquire.
  std::optional<std::pair<std::size_t, std::size_t>> cancellation{};
};

class Play {
 public:
  Play(const Line& line, const Mischief& mischief)
      : line_{line}, plan_{std::make_shared<FaultsAt>("mine", mischief.faults)} {
    for (const auto& [at, fault] : mischief.faults) {
      expires_ = expires_ || fault.kind == FaultKind::expire_before ||
                 fault.kind == FaultKind::expire_after;
    }
    plan_->submitted = [this, deletion = mischief.deletion,
                        cancellation = mischief.cancellation](std::size_t step) {
      if (deletion && step == *deletion) delete_by_hand();
      if (cancellation && step == cancellation->first) cancel(cancellation->second);
    };
  }

  /// Returns what went wrong; empty if nothing did.
  std::string run() {
    {
      locks_.emplace(*mine_, *other_, line_.hand_off);
      world_.ensemble.set_fault_plan(plan_);
      for (const char who : line_.who) {
        const bool waits = !line_.all_at_once ||
                           (!callers_.empty() && is_other(callers_.back().who) != is_other(who));
        if (waits) world_.settle();
        acquire(callers_.emplace_back(Caller{.who = who}));
      }
      const bool ended = world_.run_until([this] { return turn(); });
      if (!ended) complain("somebody waits for ever");
      callers_.clear();
      if (!world_.run_until_idle(*mine_)) complain("operations or watches of mine are left");
      if (!world_.run_until_idle(*other_)) complain("operations or watches of the other are left");
      if (!world_.ensemble.children("/lock").empty()) complain("a node is left");
      if (world_.ensemble.watches() != 0) complain("a watch is left on the server");
      locks_.reset();
    }
    if (!world_.end(mine_) || !world_.end(other_)) complain("something keeps a client alive");
    return violation_;
  }

  [[nodiscard]] std::size_t steps() const { return plan_->steps(); }

 private:
  struct Locks {
    Locks(Client& mine, Client& other, HandOff hand_off)
        : mutex{mine, "/lock", {.hand_off = hand_off}},
          others_mutex{other, "/lock"},
          lock{mine, "/lock", {.hand_off = hand_off}},
          others_lock{other, "/lock"} {}
    InterProcessMutex mutex, others_mutex;
    InterProcessReadWriteLock lock, others_lock;
  };
  struct Caller {
    char who;
    std::size_t rounds = 0;
    std::size_t turns_held = 0;
    Outcome<Lease> place{};
    std::unique_ptr<boost::asio::cancellation_signal> signal =
        std::make_unique<boost::asio::cancellation_signal>();
    Lease lease{};
    bool cancelled = false;
    bool done = false;
  };

  static bool is_other(char who) { return who >= 'a'; }
  static bool reads(char who) { return who == 'r' || who == 'R'; }

  /// Returns whether the lock may have another holder beside this one: when the servers end a
  /// session, others may acquire before its holder can be notified. Later the holder must be
  /// notified.
  [[nodiscard]] bool is_excused(const Caller& each) const {
    return expires_ && !is_other(each.who) && !world_.ensemble.exists(each.lease.node());
  }

  void complain(const std::string& what) {
    if (violation_.empty()) violation_ = what;
  }

  void acquire(Caller& caller) {
    caller.place = {};
    auto handler =
        boost::asio::bind_cancellation_slot(caller.signal->slot(), caller.place.handler());
    switch (caller.who) {
      case 'M': return locks_->mutex.async_acquire(handler);
      case 'm': return locks_->others_mutex.async_acquire(handler);
      case 'W': return locks_->lock.write().async_acquire(handler);
      case 'w': return locks_->others_lock.write().async_acquire(handler);
      case 'R': return locks_->lock.read().async_acquire(handler);
      default: return locks_->others_lock.read().async_acquire(handler);
    }
  }

  /// Deletes the node of a waiter. The first node stays: its holder would not be notified in time.
  void delete_by_hand() {
    auto nodes = world_.ensemble.children("/lock");
    std::ranges::sort(nodes, {},
                      [](const std::string& name) { return name.substr(name.size() - 10); });
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      const std::string path = "/lock/" + nodes[i];
      const bool held = std::ranges::any_of(
          callers_, [&](const Caller& each) { return each.lease && each.lease.node() == path; });
      if (!held) return world_.remove(path);
    }
  }

  void cancel(std::size_t number) {
    boost::asio::post(world_.context, [this, number] {
      if (number >= callers_.size()) return;
      Caller& caller = callers_[number];
      if (caller.done || caller.lease || caller.place.arrived()) return;
      caller.cancelled = true;
      caller.signal->emit(boost::asio::cancellation_type::total);
    });
  }

  /// Checks each contender once. Returns true if all are done.
  bool turn() {
    for (Caller& each : callers_) {
      if (each.done || each.lease || !each.place.arrived()) continue;
      const error_code error = each.place.error();
      if (error == Errc::node_deleted ||
          (each.cancelled && error == boost::asio::error::operation_aborted))
        each.done = true;
      else if (error)
        complain("an acquire ends with " + error.message()), each.done = true;
      else
        each.lease = std::move(each.place.result()), on_grant(each);
    }
    std::size_t writers = 0, readers = 0;
    for (const Caller& each : callers_) {
      if (!each.lease || each.lease.state() == LeaseState::lost || is_excused(each)) continue;
      ++(reads(each.who) ? readers : writers);
    }
    if (writers > 1) complain("two hold the lock");
    if (writers > 0 && readers > 0) complain("somebody reads while somebody writes");
    for (std::size_t i = 0; i < callers_.size(); ++i) {
      Caller& each = callers_[i];
      // The turns differ, so that readers release in another order than they acquired.
      if (!each.lease || ++each.turns_held <= (i * 3) % 4) continue;
      if (is_excused(each) && each.lease.state() != LeaseState::lost) continue;
      each.lease = {};
      each.turns_held = 0;
      if (++each.rounds == line_.rounds)
        each.done = true;
      else
        acquire(each);
    }
    // A turn follows each handler that has run. This handler keeps the turns coming while somebody
    // holds the lock, even if nothing else is due.
    if (writers + readers > 0) boost::asio::post(world_.context, [] {});
    return std::ranges::all_of(callers_, &Caller::done);
  }

  void on_grant(const Caller& caller) {
    if (is_excused(caller)) return;
    const FencingToken token = caller.lease.token();
    if (!(token > (reads(caller.who) ? last_writer_ : last_)))
      complain("a token is not greater than those before");
    if (!reads(caller.who)) last_writer_ = token;
    last_ = std::max(last_, token);
  }

  const Line line_;
  World world_;
  std::unique_ptr<Client> mine_ = world_.client("mine");
  std::unique_ptr<Client> other_ = world_.client("other");
  std::shared_ptr<FaultsAt> plan_;
  bool expires_ = false;
  std::optional<Locks> locks_;
  std::deque<Caller> callers_;
  FencingToken last_{}, last_writer_{};
  std::string violation_;
};

std::string describe(const Line& line) {
  return std::string{line.who} + (line.rounds > 1 ? ", again and again" : "") +
         (line.all_at_once ? "" : ", one by one") +
         (line.hand_off == HandOff::strict() ? "" : ", in batches");
}

const std::vector<Line>& lines() {
  static const std::vector<Line> all{
      {"MMMm"},
      {"MmMM"},
      {"MMmM"},
      {.who = "MMMM", .rounds = 3},
      {.who = "MMMmM", .rounds = 2},
      {"WRRw"},
      {"RRWr"},
      {"RWRRw"},
      {"rRRW"},
      {"RrRW"},
      {"WwRRW"},
      {.who = "RRWR", .rounds = 2},
      {.who = "WRrRW", .rounds = 2, .all_at_once = false},
      {.who = "MMmMM", .hand_off = HandOff::cohort(1)},
      {.who = "MMMM", .rounds = 3, .hand_off = HandOff::cohort(2)},
      {.who = "MMmM", .rounds = 2, .all_at_once = false, .hand_off = HandOff::cohort(2)},
      {.who = "WWRrWW", .rounds = 2, .hand_off = HandOff::cohort(2)}};
  return all;
}

TEST_CASE("local line: contenders of one client and another, through every fault",
          "[local_queue]") {
  std::size_t cases = 0;
  for (const Line& line : lines()) {
    Play plain{line, {}};
    const std::string wrong = plain.run();
    INFO(describe(line) << ": " << wrong);
    CHECK(wrong.empty());
    for (std::size_t at = 0; at < plain.steps(); ++at) {
      for (const Fault& fault : sampled(all_faults())) {
        const std::string violation = Play{line, {.faults = {{at, fault}}}}.run();
        if (!violation.empty()) {
          FAIL_CHECK(describe(line)
                     << ", request " << at << ": " << tests::describe(fault) << ": " << violation);
        }
        ++cases;
      }
    }
  }
  WARN(cases << " cases");
}

TEST_CASE("local line: a waiter's node is deleted by hand at each request", "[local_queue]") {
  std::size_t cases = 0;
  for (const Line& line : lines()) {
    Play plain{line, {}};
    CHECK(plain.run().empty());
    for (std::size_t at = 0; at < plain.steps(); ++at) {
      const std::string violation = Play{line, {.deletion = at}}.run();
      if (!violation.empty()) FAIL_CHECK(describe(line) << ", request " << at << ": " << violation);
      ++cases;
    }
  }
  WARN(cases << " cases");
}

TEST_CASE("local line: each caller gives up at each request", "[local_queue]") {
  std::size_t cases = 0;
  for (const Line& line : lines()) {
    Play plain{line, {}};
    CHECK(plain.run().empty());
    for (std::size_t at = 0; at < plain.steps(); ++at) {
      for (std::size_t who = 0; who < line.who.size(); ++who) {
        const std::string violation = Play{line, {.cancellation = {{at, who}}}}.run();
        if (!violation.empty()) {
          FAIL_CHECK(describe(line)
                     << ", request " << at << ", caller " << who << ": " << violation);
        }
        ++cases;
      }
    }
  }
  WARN(cases << " cases");
}

}  // namespace
}  // namespace custodian::tests::local_queue_faults_test
