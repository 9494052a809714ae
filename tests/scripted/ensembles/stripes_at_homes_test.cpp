// A StripedMutex whose stripes have two homes: acquires of any stripe, with a fault at each request
// to either home.

#include <algorithm>
#include <array>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <set>

#include "custodian/locks/striped_mutex.hpp"
#include "scripted/cancel_moment.hpp"
#include "scripted/ensembles/two_ensembles.hpp"
#include "scripted/plays.hpp"

namespace custodian::tests::stripes_at_homes_test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace two_ensembles;

constexpr auto stock_path = "/stock";
constexpr std::size_t count = 4;

/// Two stripes at each home.
EnsembleLayout stock_layout() {
  return {
      .depth = 2,
      .ensembles = {{"east", 1}, {"west", 1}},
      .pins = {
          {"/stock/0", "west"}, {"/stock/1", "east"}, {"/stock/2", "west"}, {"/stock/3", "east"}}};
}
constexpr std::size_t home_of(std::size_t stripe) { return stripe % 2 == 0 ? 1 : 0; }

std::string stripe_path(std::size_t index) {
  return std::string{stock_path} + "/" + std::to_string(index);
}

/// The nodes of all stripes at the homes; any that are elsewhere, too.
std::vector<std::string> nodes(const Ensembles& ensembles) {
  std::vector<std::string> all;
  for (std::size_t home = 0; home < 2; ++home) {
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::string& name : ensembles.all.at(home)->children(stripe_path(i))) {
        all.push_back((home == home_of(i) ? "" : "elsewhere: ") + stripe_path(i) + "/" + name);
      }
    }
  }
  return all;
}

/// A process with the stripes.
struct Seller : Process {
  Seller(Ensembles& ensembles, const std::string& name)
      : Process{ensembles, name, stock_layout()}, stock{std::in_place, map, stock_path, count} {}

  bool end(Ensembles& ensembles) {
    stock.reset();
    return Process::end(ensembles);
  }

  std::optional<StripedMutex> stock;
};

Lease hold(Ensembles& ensembles, Seller& seller, std::size_t stripe) {
  auto lease = run<Lease>(ensembles.world, [&](auto done) {
    seller.stock->stripe(stripe).async_acquire(std::move(done));
  });
  REQUIRE(lease.arrived());
  REQUIRE_FALSE(lease.error());
  return std::move(lease.result());
}

TEST_CASE("stripes at homes: each stripe is at the home of its path, whichever way it is acquired",
          "[ensembles]") {
  Ensembles ensembles;
  Seller mine{ensembles, "mine"};
  for (std::size_t i = 0; i < count; ++i) {
    const Lease lease = hold(ensembles, mine, i);
    CHECK(ensembles.all.at(home_of(i))->children(stripe_path(i)).size() == 1);
    CHECK(nodes(ensembles).size() == 1);
    CHECK(lease.node().starts_with(stripe_path(i)));
  }
  CHECK(&mine.stock->for_key("123456789") ==
        &mine.stock->stripe(mine.stock->stripe_of("123456789")));
  CHECK(mine.end(ensembles));
}

TEST_CASE("stripes at homes: where the depth ends above the stripes, all have one home",
          "[ensembles]") {
  Ensembles ensembles;
  Process mine{ensembles, "mine"};
  {
    StripedMutex stock{mine.map, "/orders/4711", 8};
    const std::size_t home = mine.map.home_of("/orders/4711") == "east" ? 0 : 1;
    for (std::size_t i = 0; i < 8; ++i) {
      const auto lease =
          run<Lease>(ensembles.world, [&](auto done) { stock[i].async_acquire(std::move(done)); });
      REQUIRE(lease.arrived());
    }
    const auto any = run<StripeLease>(ensembles.world,
                                      [&](auto done) { stock.async_acquire_any(std::move(done)); });
    REQUIRE(any.arrived());
    CHECK(any.result());
    CHECK_FALSE(ensembles.all.at(1 - home)->exists("/orders"));
  }
  CHECK(mine.end(ensembles));
}

TEST_CASE("stripes at homes: a free stripe is found at whichever home it is", "[ensembles]") {
  for (std::size_t free = 0; free < count; ++free) {
    for (const bool only_try : {true, false}) {
      Ensembles ensembles;
      Seller other{ensembles, "other"};
      Seller mine{ensembles, "mine"};
      std::vector<Lease> held;
      for (std::size_t i = 0; i < count; ++i) {
        if (i != free) held.push_back(hold(ensembles, other, i));
      }
      auto any = run<StripeLease>(ensembles.world, [&](auto done) {
        if (only_try) return mine.stock->async_try_acquire_any(std::move(done));
        mine.stock->async_acquire_any(std::move(done));
      });
      REQUIRE(any.arrived());
      CHECK_FALSE(any.error());
      CHECK(any.result());
      CHECK(any.result().index == free);
      any.result().lease.release();
      held.clear();
      CHECK(mine.end(ensembles));
      CHECK(other.end(ensembles));
      CHECK(nodes(ensembles).empty());
    }
  }
}

// -- Faults ---------------------------------------------------------------------------------------

enum class Ask { without_limit, once, for_a_time };

struct StockCase {
  Ask ask = Ask::without_limit;
  /// The stripes that are released when the acquire waits for all of them.
  std::vector<std::size_t> released{};
  std::size_t faulty_home = 0;
  Faults faults{};
  std::optional<std::pair<CancelMoment, std::size_t>> cancel{};
};

struct StockRun {
  std::string violation{};
  std::size_t steps = 0;
  bool granted = false;
};

std::string describe(const StockCase& played) {
  constexpr const char* asks[] = {"without limit", "once", "for a time"};
  std::string text = asks[static_cast<int>(played.ask)];
  for (const std::size_t each : played.released) text += ", " + std::to_string(each) + " released";
  text += disturbance_at(played.faulty_home, played.faults, played.cancel);
  return text;
}

class StockPlay {
 public:
  explicit StockPlay(const StockCase& played)
      : case_{played},
        plan_{std::make_shared<FaultsAt>(played.faulty_home == 0 ? "mine-east" : "mine-west",
                                         played.faults)} {}

  StockRun run() {
    for (std::size_t i = 0; i < count; ++i) held_.at(i) = hold(ensembles_, other_, i);
    const auto cancel_at = [this](CancelMoment moment) {
      return [this, moment](std::size_t step) {
        if (case_.cancel != std::pair{moment, step}) return;
        if (moment != CancelMoment::request_sent) return signal_.emit(asio::cancellation_type::all);
        asio::post(ensembles_.world.context,
                   [this] { signal_.emit(asio::cancellation_type::all); });
      };
    };
    plan_->submitted = cancel_at(CancelMoment::request_sent);
    plan_->replying = cancel_at(CancelMoment::before_reply);
    plan_->replied = cancel_at(CancelMoment::after_reply);
    ensembles_.all.at(case_.faulty_home)->set_fault_plan(plan_);
    acquire();
    if (!ensembles_.world.run_until_arrived(any_)) return {"it does not end"};
    run_.steps = plan_->steps();
    plan_->submitted = plan_->replying = plan_->replied = nullptr;
    for (testing::FakeEnsemble* each : ensembles_.all) each->release_replies();
    judge();
    leave_nothing();
    return run_;
  }

 private:
  void complain(const std::string& what) {
    if (run_.violation.empty()) run_.violation = what;
  }

  void acquire() {
    AcquireOptions options;
    options.on_position = [this](std::size_t, const Participant& nearest) {
      waits_at_.insert(std::string{nearest.node.substr(0, stripe_path(0).size())});
      if (waits_at_.size() < count) return;
      for (const std::size_t each : case_.released) held_.at(each).release();
    };
    auto handler = asio::bind_cancellation_slot(signal_.slot(), any_.handler());
    switch (case_.ask) {
      case Ask::without_limit: return mine_.stock->async_acquire_any(options, handler);
      case Ask::once: return mine_.stock->async_try_acquire_any(options, handler);
      case Ask::for_a_time:
        return mine_.stock->async_try_acquire_any_until(brief_limit, options, handler);
    }
  }

  void judge() {
    const error_code error = any_.error();
    StripeLease& any = any_.result();
    run_.granted = static_cast<bool>(any);
    if (!run_.granted) {
      if (case_.cancel && error == asio::error::operation_aborted) return;
      if (error) return complain("it fails: " + error.message());
      if (case_.ask == Ask::without_limit) return complain("no stripe, and no error");
      if (any.reason == NotAcquired::none) return complain("it does not say why");
      // The fault is at one home: the other one shows its holders.
      if (case_.ask == Ask::once && any.reason != NotAcquired::blocked) complain(any.explain());
      return;
    }
    if (error) complain("a stripe with an error");
    if (any.index >= count) return complain("a stripe that there is not");
    if (!any.lease.node().starts_with(stripe_path(any.index) + "/")) {
      complain("the lease is not of the stripe that it names");
    }
    if (held_.at(any.index)) complain("two hold the stripe");
  }

  /// Checks that another process gets each stripe, so that nothing is left in front.
  void leave_nothing() {
    any_.result().lease.release();
    for (std::size_t i = 0; i < count; ++i) {
      held_.at(i).release();
      Outcome<Lease> probe;
      other_.stock->stripe(i).async_acquire(probe.handler());
      if (!ensembles_.world.run_until_arrived(probe)) return complain("another waits for ever");
      if (probe.error()) return complain("another fails: " + probe.error().message());
      probe.result().release();
    }
    if (!mine_.end(ensembles_)) complain("something is left, or keeps a client alive");
    if (!other_.end(ensembles_)) complain("something is left in the other process");
    if (!nodes(ensembles_).empty()) complain("a node is left: " + nodes(ensembles_).front());
    for (const testing::FakeEnsemble* each : ensembles_.all) {
      if (each->watches() != 0) complain("a watch is left");
    }
  }

  const StockCase& case_;
  const std::shared_ptr<FaultsAt> plan_;
  asio::cancellation_signal signal_;
  Ensembles ensembles_;
  Seller other_{ensembles_, "other"};
  Seller mine_{ensembles_, "mine"};
  std::array<Lease, count> held_;
  std::set<std::string> waits_at_;
  Outcome<StripeLease> any_;
  StockRun run_;
};

class Tally : public Plays {
 public:
  using Plays::Plays;

  StockRun play(const StockCase& played) {
    StockRun run = StockPlay{played}.run();
    add(run.violation, [&] { return describe(played); });
    return run;
  }

  void play_faults(StockCase played) {
    const StockRun plain = play(played);
    CHECK(plain.granted == !played.released.empty());
    for (std::size_t at = 0; at < plain.steps; ++at) {
      for (const Fault& fault : sampled(all_faults())) {
        played.faults = {{at, fault}};
        play(played);
      }
    }
  }
};

TEST_CASE("stripes at homes: a stripe that is released at either home is had, through every fault",
          "[ensembles]") {
  Tally tally{"a stripe is released"};
  for (const std::size_t released : {0U, 1U}) {
    for (const std::size_t home : {0U, 1U}) {
      tally.play_faults({.released = {released}, .faulty_home = home});
    }
  }
}

TEST_CASE("stripes at homes: of stripes that are granted at both homes one is released again",
          "[ensembles]") {
  Tally tally{"stripes of both homes are released"};
  for (const std::size_t home : {0U, 1U}) {
    tally.play_faults({.released = {0, 1}, .faulty_home = home});
  }
}

TEST_CASE("stripes at homes: a try, and an acquire for a time, end and leave nothing",
          "[ensembles]") {
  Tally tally{"tries"};
  for (const Ask ask : {Ask::once, Ask::for_a_time}) {
    for (const std::size_t home : {0U, 1U}) tally.play_faults({.ask = ask, .faulty_home = home});
  }
}

TEST_CASE("stripes at homes: a cancelled acquire ends at every moment, and leaves nothing",
          "[ensembles]") {
  Tally tally{"cancelled"};
  for (const std::size_t home : {0U, 1U}) {
    StockCase each{.released = {0, 3}, .faulty_home = home};
    const std::size_t steps = tally.play(each).steps;
    for (std::size_t at = 0; at < steps; ++at) {
      for (const CancelMoment moment :
           {CancelMoment::request_sent, CancelMoment::before_reply, CancelMoment::after_reply}) {
        each.cancel = std::pair{moment, at};
        tally.play(each);
      }
    }
  }
}

// -- A home that is away --------------------------------------------------------------------------

TEST_CASE("stripes at homes: a home that is away is passed over, and its stripes come back with it",
          "[ensembles]") {
  Ensembles ensembles;
  Seller other{ensembles, "other"};
  Seller mine{ensembles, "mine"};
  ensembles.west.stop();
  REQUIRE(ensembles.world.run_until([&] {
    return !is_connected(mine.west->connection_state()) &&
           !is_connected(other.west->connection_state());
  }));
  for (int i = 0; i < 10; ++i) {
    const auto any = run<StripeLease>(
        ensembles.world, [&](auto done) { mine.stock->async_acquire_any(std::move(done)); });
    REQUIRE(any.arrived());
    REQUIRE(any.result());
    CHECK(home_of(any.result().index) == 0);
  }
  std::vector<Lease> held;
  for (const std::size_t each : {1U, 3U}) held.push_back(hold(ensembles, other, each));
  Outcome<StripeLease> waiting;
  mine.stock->async_acquire_any(waiting.handler());
  const auto tried = run<StripeLease>(
      ensembles.world, [&](auto done) { mine.stock->async_try_acquire_any(std::move(done)); });
  REQUIRE(tried.arrived());
  CHECK(tried.result().reason == NotAcquired::blocked);
  CHECK(tried.result().blocked_by);
  CHECK_FALSE(waiting.arrived());
  ensembles.west.start();
  REQUIRE(ensembles.world.run_until_arrived(waiting));
  CHECK_FALSE(waiting.error());
  CHECK(home_of(waiting.result().index) == 1);
}

TEST_CASE("stripes at homes: a client that closes ends an acquire that waits", "[ensembles]") {
  for (const char* closing : {"east", "west"}) {
    Ensembles ensembles;
    Seller other{ensembles, "other"};
    Seller mine{ensembles, "mine"};
    std::vector<Lease> held;
    for (std::size_t i = 0; i < count; ++i) held.push_back(hold(ensembles, other, i));
    std::set<std::string> seen;
    AcquireOptions options;
    options.on_position = [&](std::size_t, const Participant& nearest) {
      seen.insert(std::string{nearest.node});
    };
    Outcome<StripeLease> any;
    mine.stock->async_acquire_any(options, any.handler());
    REQUIRE(ensembles.world.run_until([&] { return seen.size() == count; }));
    Outcome<bool> closed;
    mine.map.client(closing).async_close(World::limit, closed.handler());
    REQUIRE(ensembles.world.run_until_arrived(any));
    CHECK(any.error() == Errc::closed);
    REQUIRE(ensembles.world.run_until_arrived(closed));
    CHECK(closed.result());
    CHECK(ensembles.world.run_until([&] { return nodes(ensembles).size() == count; }));
  }
}

}  // namespace
}  // namespace custodian::tests::stripes_at_homes_test
