// Custom locks in a multi lock: slow, failing, throwing, silent and late ones. The group has all of
// its locks or none, within its limit, and each hold is released once.

#include "custodian/lock_sets/custom_lock.hpp"

#include <atomic>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <iostream>
#include <optional>
#include <thread>

#include "custodian/lock_sets/inter_process_multi_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/lock_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::custom_lock_test {
namespace {

using namespace std::chrono_literals;

enum class Behaviour { acquires, is_held, fails, throws, keeps_silent, drops_its_answer };

/// A custom lock that behaves as the test says, and counts what it does.
class ScriptedLock final : public CustomLock, public std::enable_shared_from_this<ScriptedLock> {
 public:
  explicit ScriptedLock(std::string name, Behaviour does = Behaviour::acquires)
      : behaviour{does}, name_{std::move(name)} {}

  std::string name() const override { return name_; }

  void async_acquire(CustomLimit limit, CustomAnswer answer) override {
    limits.push_back(limit);
    switch (behaviour) {
      case Behaviour::acquires: return answer({}, hold());
      case Behaviour::is_held: return answer({}, nullptr);
      case Behaviour::fails: return answer(ServerErrc::no_auth, nullptr);
      case Behaviour::throws: throw std::runtime_error{"the database is away"};
      case Behaviour::keeps_silent: kept = std::move(answer); return;
      case Behaviour::drops_its_answer: return;
    }
  }

  std::unique_ptr<CustomHold> hold() {
    ++holds;
    return std::make_unique<Hold>(shared_from_this());
  }

  Behaviour behaviour;
  bool release_throws = false;
  std::vector<CustomLimit> limits;
  CustomAnswer kept;
  std::stop_source lost;
  std::atomic<int> holds = 0;
  std::atomic<int> releases = 0;
  std::function<void()> on_release = [] {};

 private:
  class Hold final : public CustomHold {
   public:
    explicit Hold(std::shared_ptr<ScriptedLock> lock) : lock_{std::move(lock)} {}
    void release() override {
      ++lock_->releases;
      lock_->on_release();
      if (lock_->release_throws) throw std::runtime_error{"it does not want to"};
    }
    std::stop_token lost() const noexcept override { return lock_->lost.get_token(); }

   private:
    std::shared_ptr<ScriptedLock> lock_;
  };

  std::string name_;
};

using ScriptedLockPtr = std::shared_ptr<ScriptedLock>;

ScriptedLockPtr scripted(std::string name, Behaviour behaviour = Behaviour::acquires) {
  return std::make_shared<ScriptedLock>(std::move(name), behaviour);
}

/// The client "observed" wants the mutex /a, a custom lock and the mutex /b.
struct Around {
  explicit Around(ScriptedLockPtr lock) : custom{std::move(lock)} {}

  Outcome<GroupAcquireResult> acquired(Deadline limit = 1h) {
    return run<GroupAcquireResult>(
        world, [&](auto done) { locks->all.async_try_acquire_until(limit, std::move(done)); });
  }
  /// Checks that nothing is left behind.
  void end() {
    CHECK(world.run_until_idle(*client));
    CHECK(world.run_until([&] { return custom->holds == custom->releases; }));
    CHECK(world.ensemble.children("/a").empty());
    CHECK(world.ensemble.children("/b").empty());
    locks.reset();
    CHECK(world.end(client));
  }
  World world;
  std::vector<std::string> log;
  std::unique_ptr<Client> client = world.client([this] {
    ClientOptions options = world.options("observed");
    options.log = [this](LogLevel level, std::string_view message) {
      if (level == LogLevel::error) log.emplace_back(message);
    };
    return options;
  }());
  ScriptedLockPtr custom;
  struct Locks {
    Locks(const Client& of, const ScriptedLockPtr& middle)
        : a{of, "/a"}, b{of, "/b"}, all{{a, middle, b}} {}
    InterProcessMutex a;
    InterProcessMutex b;
    InterProcessMultiLock all;
  };
  std::optional<Locks> locks{std::in_place, *client, custom};
};

TEST_CASE("custom locks: acquired in order, held with the group, released in reverse, once",
          "[multi]") {
  World world;
  auto client = world.client("client");
  {
    std::string order;
    const auto x = scripted("x");
    const auto y = scripted("y");
    x->on_release = [&] { order += 'x'; };
    y->on_release = [&] { order += 'y'; };
    InterProcessMutex a{*client, "/a"};
    // The first lock of a group may be a custom one.
    InterProcessMultiLock all{{x, a, y}};
    CHECK(all.paths() == std::vector<std::string>{"x", "/a", "y"});
    auto outcome = run<LeaseGroup>(world, [&](auto done) { all.async_acquire(std::move(done)); });
    REQUIRE(outcome.arrived());
    REQUIRE_FALSE(outcome.error());
    LeaseGroup group = std::move(outcome.result());
    CHECK(group.leases().size() == 1);
    CHECK(group.needed() == 3);
    CHECK(group.state() == LeaseState::held);
    CHECK(group.remaining() > 0s);
    CHECK(x->limits.at(0).wait == CustomWait::until_deadline);
    CHECK(x->limits.at(0).deadline.is_never());
    LeaseGroup shared = group.share();
    group.release();
    CHECK(order.empty());
    shared.release();
    CHECK(order == "yx");
    CHECK(world.run_until_idle(*client));
    CHECK(world.ensemble.children("/a").empty());
    CHECK(x->releases == 1);
  }
  CHECK(world.end(client));
}

TEST_CASE("custom locks: who only tries says so, and one that is somebody's is named", "[multi]") {
  Around play{scripted("row", Behaviour::is_held)};
  const auto outcome = run<GroupAcquireResult>(
      play.world, [&](auto done) { play.locks->all.async_try_acquire(std::move(done)); });
  REQUIRE(outcome.arrived());
  CHECK_FALSE(outcome.error());
  CHECK_FALSE(outcome.result());
  CHECK(outcome.result().path == "row");
  CHECK(outcome.result().reason == NotAcquired::blocked);
  CHECK(play.custom->limits.at(0).wait == CustomWait::not_at_all);
  CHECK_FALSE(play.custom->limits.at(0).deadline.is_never());
  play.end();
}

TEST_CASE("custom locks: an error, an exception or a dropped answer undoes the others", "[multi]") {
  const auto [behaviour, error] = GENERATE(table<Behaviour, error_code>(
      {{Behaviour::fails, ServerErrc::no_auth},
       {Behaviour::throws, make_error_code(boost::system::errc::state_not_recoverable)},
       {Behaviour::drops_its_answer,
        make_error_code(boost::system::errc::state_not_recoverable)}}));
  Around play{scripted("row", behaviour)};
  const auto outcome = play.acquired();
  REQUIRE(outcome.arrived());
  CHECK(outcome.error() == error);
  CHECK(outcome.result().path == "row");
  std::string logged;
  for (const std::string& message : play.log) logged += message;
  CHECK(play.log.size() == (behaviour == Behaviour::fails ? 0 : 1));
  const bool is_thrown = logged.find("row has failed: the database is away") != std::string::npos;
  CHECK(is_thrown == (behaviour == Behaviour::throws));
  play.end();
}

TEST_CASE(
    "custom locks: the limit holds for one that does not answer, and its late hold is released",
    "[multi]") {
  Around play{scripted("row", Behaviour::keeps_silent)};
  const auto outcome = play.acquired(200ms);
  REQUIRE(outcome.arrived());
  CHECK_FALSE(outcome.error());
  CHECK_FALSE(outcome.result());
  play.world.settle();
  // On a busy machine the limit may pass before the custom lock is asked.
  if (play.custom->kept) {
    CHECK(outcome.result().path == "row");
    CHECK(play.custom->limits.at(0).given_up.stop_requested());
    std::thread{[&] { play.custom->kept({}, play.custom->hold()); }}.join();
    CHECK(play.custom->releases == 1);
    CHECK_THROWS_AS(
        (play.custom->release_throws = true, play.custom->kept({}, play.custom->hold())),
        std::runtime_error);
  }
  play.end();
}

TEST_CASE("custom locks: one that answers on another thread, and twice", "[multi]") {
  Around play{scripted("row", Behaviour::keeps_silent)};
  Outcome<LeaseGroup> outcome;
  play.locks->all.async_acquire(outcome.handler());
  REQUIRE(play.world.run_until([&] { return static_cast<bool>(play.custom->kept); }));
  std::jthread other{[&] {
    play.custom->kept({}, play.custom->hold());
    play.custom->kept({}, play.custom->hold());
  }};
  REQUIRE(play.world.run_until_arrived(outcome));
  other.join();
  CHECK_FALSE(outcome.error());
  CHECK(play.custom->holds == 2);
  CHECK(play.custom->releases == 1);
  outcome.result().release();
  CHECK(play.custom->releases == 2);
  play.end();
}

TEST_CASE("custom locks: a cancelled acquire waits for no answer", "[multi]") {
  Around play{scripted("row", Behaviour::keeps_silent)};
  boost::asio::cancellation_signal signal;
  Outcome<LeaseGroup> outcome;
  play.locks->all.async_acquire(
      boost::asio::bind_cancellation_slot(signal.slot(), outcome.handler()));
  REQUIRE(play.world.run_until([&] { return static_cast<bool>(play.custom->kept); }));
  signal.emit(boost::asio::cancellation_type::total);
  REQUIRE(play.world.run_until_arrived(outcome));
  CHECK(outcome.error() == boost::asio::error::operation_aborted);
  CHECK(play.world.run_until([&] { return play.custom->limits[0].given_up.stop_requested(); }));
  play.custom->kept({}, play.custom->hold());
  play.end();
}

TEST_CASE("custom locks: the loss of one is the group's, and ends a wait for others", "[multi]") {
  Around play{scripted("row")};
  auto group = play.acquired();
  REQUIRE(group.arrived());
  REQUIRE(group.result());
  Outcome<> lost;
  group.result().leases.async_wait_lost(lost.handler());
  play.custom->lost.request_stop();
  CHECK(group.result().leases.state() == LeaseState::lost);
  CHECK(group.result().leases.remaining() == 0s);
  CHECK(group.result().leases.lost().stop_requested());
  CHECK(play.world.run_until_arrived(lost));
  group.result().leases.release();

  play.custom->lost = std::stop_source{};
  auto others = play.world.client("other");
  {
    InterProcessMutex mutex{*others, "/b"};
    auto held = run<Lease>(play.world, [&](auto done) { mutex.async_acquire(std::move(done)); });
    REQUIRE(held.arrived());
    auto waiting = std::make_shared<bool>(false);
    AcquireOptions options;
    options.on_position = [waiting](auto&&...) { *waiting = true; };
    Outcome<GroupAcquireResult> outcome;
    play.locks->all.async_try_acquire_for(1h, options, outcome.handler());
    REQUIRE(play.world.run_until([&] { return *waiting; }));
    play.custom->lost.request_stop();
    REQUIRE(play.world.run_until_arrived(outcome));
    CHECK(outcome.error() == Errc::lock_lost);
    CHECK(outcome.result().path == "row");
    held.result().release();
    CHECK(play.world.run_until_idle(*others));
  }
  CHECK(play.world.end(others));
  play.end();
}

TEST_CASE("custom locks: a release that throws is logged, and the others happen", "[multi]") {
  Around play{scripted("row")};
  play.custom->release_throws = true;
  auto outcome = play.acquired();
  REQUIRE(outcome.arrived());
  REQUIRE(outcome.result());
  outcome.result().leases.release();
  play.end();
  REQUIRE(play.log.size() == 1);
  CHECK(play.log[0].find("releasing row has failed: it does not want to") != std::string::npos);
}

TEST_CASE("custom locks: none, one twice, and only such are refused; one may go unused",
          "[multi]") {
  World world;
  auto client = world.client("client");
  {
    InterProcessMutex a{*client, "/a"};
    const auto row = scripted("row");
    const auto refused = [](auto make) {
      try {
        make();
      } catch (const Error& error) {
        return error.code() == Errc::invalid_argument;
      }
      return false;
    };
    CHECK(refused([] { AnyLock{ScriptedLockPtr{}}; }));
    CHECK(refused([&] { InterProcessMultiLock{{a, row, row}}; }));
    CHECK(refused([&] { InterProcessMultiLock{{row}}; }));
    InterProcessMultiLock unused{{a, row}};
    CHECK(row->limits.empty());
  }
  CHECK(world.end(client));
}

struct Run {
  std::string fault{};
  std::size_t steps = 0;
};

enum class Way { tries, waits_with_limit, waits };

/// Every request of "observed" is counted, and may fail.
Run play_with(Way way, Behaviour behaviour, const Faults& faults) {
  Run result;
  const auto complain = [&](const std::string& what) {
    if (result.fault.empty()) result.fault = what;
  };
  World world;
  auto client = world.client("observed");
  const auto custom = scripted("row", behaviour);
  const auto plan = std::make_shared<FaultsAt>("observed", faults);
  {
    InterProcessMutex a{*client, "/a"};
    InterProcessMutex b{*client, "/b"};
    InterProcessMultiLock all{{a, custom, b}};
    world.ensemble.set_fault_plan(plan);
    Outcome<GroupAcquireResult> outcome;
    if (way == Way::tries) all.async_try_acquire(outcome.handler());
    if (way == Way::waits_with_limit) all.async_try_acquire_for(1h, outcome.handler());
    if (way == Way::waits) {
      all.async_acquire([done = outcome.handler()](error_code error, LeaseGroup leases) {
        done(error, GroupAcquireResult{.leases = std::move(leases)});
      });
    }
    if (!world.run_until_arrived(outcome)) return {"the acquire does not end"};
    const bool granted = static_cast<bool>(outcome.result());
    if (granted && custom->holds != custom->releases + 1) complain("a group without its lock");
    if (granted && outcome.result().leases.leases().size() != 2) complain("some, and not all");
    if (granted && behaviour != Behaviour::acquires) complain("a lock that was not acquired");
    if (!granted && behaviour == Behaviour::acquires && way != Way::tries) {
      complain("it ends with " + outcome.error().message());
    }
    outcome.result().leases.release();
    if (!world.run_until([&] { return custom->holds == custom->releases; })) {
      complain("the custom lock is still held");
    }
    if (!world.run_until_idle(*client)) complain("operations or watches are left");
    for (const std::string path : {"/a", "/b"}) {
      if (!world.ensemble.children(path).empty()) complain("a node is left");
    }
  }
  if (!world.end(client)) complain("something keeps the client alive");
  result.steps = plan->steps();
  return result;
}

TEST_CASE("custom locks: all or none through every fault at every request", "[multi]") {
  std::size_t cases = 0;
  for (const Way way : {Way::tries, Way::waits_with_limit, Way::waits}) {
    for (const Behaviour behaviour : {Behaviour::acquires, Behaviour::fails, Behaviour::throws}) {
      const Run plain = play_with(way, behaviour, {});
      CHECK(plain.fault.empty());
      CHECK(plain.steps >= 2);
      for (std::size_t at = 0; at < plain.steps; ++at) {
        for (const Fault& fault : sampled(all_faults())) {
          const Run run = play_with(way, behaviour, {{at, fault}});
          if (!run.fault.empty()) {
            FAIL_CHECK("request " << at << ": " << describe(fault) << ": " << run.fault);
          }
          ++cases;
        }
      }
    }
  }
  std::cout << "  " << cases << " cases: a custom lock in the middle, each fault at each request\n";
}

}  // namespace
}  // namespace custodian::tests::custom_lock_test
