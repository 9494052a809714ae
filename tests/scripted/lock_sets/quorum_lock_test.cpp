// A quorum lock over three ensembles, which fail one by one, or at any request.

#include "custodian/lock_sets/quorum_lock.hpp"

#include <array>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <iostream>
#include <set>

#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/lock_play.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::quorum_lock_test {

namespace asio = boost::asio;

namespace {

using namespace std::chrono_literals;

constexpr auto path = "/quorum";

/// Three ensembles; the first is the world's own.
struct Ensembles {
  World world;
  testing::FakeEnsemble second{{.reconnect_pause = 0ms}};
  testing::FakeEnsemble third{{.reconnect_pause = 0ms}};
  std::array<testing::FakeEnsemble*, 3> all{&world.ensemble, &second, &third};

  /// Counts those of these nodes that exist, each in any ensemble.
  [[nodiscard]] std::ptrdiff_t existing(const std::set<std::string>& nodes) const {
    return std::ranges::count_if(all, [&](const auto* ensemble) {
      return std::ranges::any_of(ensemble->children(path), [&](const std::string& name) {
        return nodes.contains(std::string{path}.append("/").append(name));
      });
    });
  }
  /// True if no node and no watch is left in any ensemble.
  [[nodiscard]] bool empty() const {
    return std::ranges::all_of(all, [](const auto* ensemble) {
      return ensemble->children(path).empty() && ensemble->watches() == 0;
    });
  }
};

/// A client of each ensemble, and the quorum lock on them.
class ContenderName {
 public:
  ContenderName(Ensembles& ensembles, const std::string& name, std::chrono::nanoseconds reach = 1h)
      : ensembles_{ensembles} {
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string own = name + std::to_string(i);
      ClientOptions options = ensembles.world.options(own);
      options.session_factory = ensembles.all[i]->session_factory(own);
      clients_[i] = std::make_unique<Client>(ensembles.world.context.get_executor(), options);
    }
    lock_.emplace(
        std::vector<std::reference_wrapper<const Client>>{*clients_[0], *clients_[1], *clients_[2]},
        path, QuorumLockOptions{.max_unreachable = reach});
  }

  QuorumLock& operator*() { return *lock_; }
  QuorumLock* operator->() { return &*lock_; }
  Client& client(std::size_t index) { return *clients_[index]; }
  void wait_connected() {
    for (const auto& client : clients_) {
      REQUIRE(ensembles_.world.run_until([&] { return is_connected(client->connection_state()); }));
    }
  }
  Outcome<LeaseGroup> begin(AcquireOptions options = {}) {
    Outcome<LeaseGroup> outcome;
    lock_->async_acquire(std::move(options), outcome.handler());
    return outcome;
  }
  LeaseGroup acquired() {
    auto outcome = begin();
    REQUIRE(ensembles_.world.run_until_arrived(outcome));
    REQUIRE_FALSE(outcome.error());
    return std::move(outcome.result());
  }
  /// Destroys the lock and its clients; false if a request is pending or something keeps a client
  /// alive.
  bool end() {
    bool ended = true;
    for (auto& client : clients_) ended = ensembles_.world.run_until_idle(*client) && ended;
    lock_.reset();
    for (auto& client : clients_) ended = ensembles_.world.end(client) && ended;
    return ended;
  }

 private:
  Ensembles& ensembles_;
  std::array<std::unique_ptr<Client>, 3> clients_;
  std::optional<QuorumLock> lock_;
};

TEST_CASE("quorum: all ensembles are had where all are to be had; a majority of them suffices",
          "[quorum]") {
  Ensembles ensembles;
  ContenderName contender{ensembles, "contender"};
  contender.wait_connected();
  LeaseGroup leases = contender.acquired();
  CHECK(leases.leases().size() == 3);
  CHECK(leases.needed() == 2);
  CHECK(leases.state() == LeaseState::held);
  const auto expire = [&](std::size_t index) {
    ensembles.all[index]->expire(contender.client(index).session().id);
    REQUIRE(
        ensembles.world.run_until([&] { return leases.leases()[index].lost().stop_requested(); }));
  };
  expire(2);
  CHECK(leases.state() == LeaseState::held);
  CHECK_FALSE(leases.lost().stop_requested());
  expire(0);
  CHECK(leases.state() == LeaseState::lost);
  CHECK(leases.lost().stop_requested());
  leases.release();
  CHECK(contender.end());
  CHECK(ensembles.empty());
}

TEST_CASE("quorum: an ensemble that is away is passed over, wherever it is in the order",
          "[quorum]") {
  for (std::size_t away = 0; away < 3; ++away) {
    Ensembles ensembles;
    ContenderName contender{ensembles, "contender", 30ms};
    ensembles.all[away]->stop();
    LeaseGroup leases = contender.acquired();
    CHECK(leases.leases().size() == 2);
    CHECK(leases.state() == LeaseState::held);
    const std::vector<FencingToken> tokens = contender->tokens(leases);
    REQUIRE(tokens.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) CHECK((tokens[i] == FencingToken{}) == (i == away));
    ensembles.all[away]->start();
    leases.release();
    CHECK(contender.end());
    CHECK(ensembles.empty());
  }
}

TEST_CASE("quorum: with two ensembles away it begins again until one is back", "[quorum]") {
  Ensembles ensembles;
  ContenderName contender{ensembles, "contender", 10ms};
  ensembles.all[0]->stop();
  ensembles.all[1]->stop();
  int passes = 0;
  AcquireOptions options;
  options.on_requeued = [&] {
    if (++passes == 3) ensembles.all[1]->start();
  };
  auto outcome = contender.begin(options);
  REQUIRE(ensembles.world.run_until_arrived(outcome));
  CHECK_FALSE(outcome.error());
  CHECK(outcome.result().leases().size() == 2);
  CHECK(passes >= 3);
  outcome.result().release();
  ensembles.all[0]->start();
  CHECK(contender.end());
  CHECK(ensembles.empty());
}

TEST_CASE("quorum: who waits in the queue of an ensemble that goes away goes on to the next",
          "[quorum]") {
  Ensembles ensembles;
  ContenderName contender{ensembles, "contender", 30ms};
  auto other = ensembles.world.client("other");
  {
    InterProcessMutex first{*other, path};
    auto held = run<Lease>(ensembles.world, [&](auto done) { first.async_acquire(done); });
    REQUIRE(held.arrived());
    bool waits = false;
    AcquireOptions options;
    options.on_position = [&](auto&&...) { waits = true; };
    auto outcome = contender.begin(options);
    REQUIRE(ensembles.world.run_until([&] { return waits; }));
    CHECK(ensembles.second.children(path).empty());  // the ensembles are asked one after the other
    ensembles.world.ensemble.stop();
    REQUIRE(ensembles.world.run_until_arrived(outcome));
    CHECK_FALSE(outcome.error());
    CHECK(outcome.result().leases().size() == 2);
    ensembles.world.ensemble.start();
    // The node that the acquire abandoned is deleted in this ensemble, too.
    CHECK(ensembles.world.run_until(
        [&] { return ensembles.world.ensemble.children(path).size() == 1; }));
    outcome.result().release();
  }
  CHECK(contender.end());
  CHECK(ensembles.world.end(other));
  CHECK(ensembles.empty());
}

TEST_CASE("quorum: five contenders take turns, whatever is away meanwhile", "[quorum]") {
  for (std::size_t away = 0; away < 4; ++away) {
    Ensembles ensembles;
    std::vector<std::unique_ptr<ContenderName>> contenders;
    for (int i = 0; i < 5; ++i) {
      contenders.push_back(
          std::make_unique<ContenderName>(ensembles, "c" + std::to_string(i) + "-", 20ms));
    }
    if (away < 3) ensembles.all[away]->stop();
    int inside = 0;
    int turns = 0;
    bool two_at_once = false;
    std::function<void(ContenderName&)> take_turn = [&](ContenderName& contender) {
      contender->async_acquire([&](error_code error, LeaseGroup leases) {
        if (error) return;
        two_at_once = two_at_once || ++inside > 1;
        asio::post(ensembles.world.context,
                   [&, held = std::make_shared<LeaseGroup>(std::move(leases))] {
                     --inside;
                     if (++turns == 15 && away < 3) ensembles.all[away]->start();
                     held->release();
                     if (turns <= 25) take_turn(contender);
                   });
      });
    };
    for (const auto& contender : contenders) take_turn(*contender);
    CHECK(ensembles.world.run_until([&] { return turns == 30; }));
    CHECK_FALSE(two_at_once);
    for (const auto& contender : contenders) CHECK(contender->end());
    CHECK(ensembles.empty());
  }
}

TEST_CASE("quorum: a try fails if others have a majority, and says so if too few are in reach",
          "[quorum]") {
  Ensembles ensembles;
  ContenderName contender{ensembles, "contender"};
  ContenderName other{ensembles, "other"};
  const auto tried = [&] {
    return run<GroupAcquireResult>(
        ensembles.world, [&](auto done) { contender->async_try_acquire(std::move(done)); });
  };
  contender.wait_connected();
  LeaseGroup held = other.acquired();
  auto outcome = tried();
  REQUIRE(outcome.arrived());
  CHECK_FALSE(outcome.error());
  CHECK_FALSE(outcome.result());
  REQUIRE(outcome.result().blocked_by);
  CHECK(outcome.result().blocked_by->node == held.leases()[0].node());
  held.release();
  CHECK(ensembles.world.run_until([&] { return ensembles.empty(); }));
  outcome = tried();
  REQUIRE(outcome.arrived());
  CHECK(outcome.result().leases.leases().size() == 3);
  outcome.result().leases.release();
  ensembles.all[0]->stop();
  outcome = tried();
  REQUIRE(outcome.arrived());
  CHECK(outcome.result().leases.leases().size() == 2);
  outcome.result().leases.release();
  ensembles.all[2]->stop();
  outcome = tried();
  REQUIRE(outcome.arrived());
  CHECK_FALSE(outcome.error());
  CHECK(outcome.result().reason == NotAcquired::no_connection);
  CHECK_FALSE(outcome.result().path.empty());
  auto late = run<GroupAcquireResult>(
      ensembles.world, [&](auto done) { contender->async_try_acquire_for(50ms, std::move(done)); });
  REQUIRE(late.arrived());
  CHECK_FALSE(late.error());
  CHECK(late.result().reason == NotAcquired::no_connection);
  ensembles.all[0]->start();
  ensembles.all[2]->start();
  CHECK(contender.end());
  CHECK(other.end());
  CHECK(ensembles.empty());
}

TEST_CASE("quorum: an ensemble that refuses is done without; two that do are an error",
          "[quorum]") {
  Ensembles ensembles;
  ContenderName contender{ensembles, "contender"};
  const auto refuse = [&](std::size_t index) {
    ensembles.all[index]->operate(request::Create{.path = path, .acl = open_acl()});
    ensembles.all[index]->refuse(path);
  };
  refuse(0);
  LeaseGroup leases = contender.acquired();
  CHECK(leases.leases().size() == 2);
  leases.release();
  refuse(2);
  auto outcome = contender.begin();
  REQUIRE(ensembles.world.run_until_arrived(outcome));
  CHECK(outcome.error() == ServerErrc::no_auth);
  CHECK(contender.end());
}

TEST_CASE("quorum: an even number, less than three, or one twice are refused", "[quorum]") {
  World world;
  auto a = world.client("a");
  auto b = world.client("b");
  auto c = world.client("c");
  auto d = world.client("d");
  const auto refused = [](auto function) {
    try {
      function();
    } catch (const Error& error) {
      return error.code() == Errc::invalid_argument;
    }
    return false;
  };
  CHECK(refused([&] { QuorumLock{{*a}, path}; }));
  CHECK(refused([&] { QuorumLock{{*a, *b}, path}; }));
  CHECK(refused([&] { QuorumLock{{*a, *b, *c, *d}, path}; }));
  CHECK(refused([&] { QuorumLock{{*a, *b, *a}, path}; }));
  CHECK(refused([&] { QuorumLock{{*a, *b, *c}, "quorum"}; }));
  CHECK(refused([&] { QuorumLock{{*a, *b, *c}, path, {.max_unreachable = 0s}}; }));
  CHECK_FALSE(refused([&] { QuorumLock{{*a, *b, *c}, path}; }));
  for (auto* client : {&a, &b, &c, &d}) CHECK(world.end(*client));
}

/// The nodes of a group. Each name has a uuid, so no two are alike, whatever their ensembles.
std::set<std::string> nodes_of(const LeaseGroup& leases) {
  std::set<std::string> nodes;
  for (const Lease& lease : leases.leases()) nodes.insert(lease.node());
  return nodes;
}

/// "other" holds the lock in all ensembles, and releases when "observed" waits. One client of
/// "observed" meets a fault, or its acquire is cancelled; then "other" acquires again. Returns what
/// is wrong; empty if nothing is.
std::string play_quorum(std::size_t where, const Faults& faults, std::optional<Cancel> cancel,
                        std::size_t* steps = nullptr) {
  Ensembles ensembles;
  World& world = ensembles.world;
  ContenderName observed{ensembles, "observed"};
  ContenderName other{ensembles, "other"};
  LeaseGroup held = other.acquired();
  const auto nodes_before = nodes_of(held);
  const bool expires = std::ranges::any_of(faults, ends_session, &Faults::value_type::second);
  const auto plan = std::make_shared<FaultsAt>("observed" + std::to_string(where), faults);
  asio::cancellation_signal signal;
  plan->submitted = [&](std::size_t step) {
    if (!cancel || cancel->at != step) return;
    asio::post(world.context, [&] { signal.emit(asio::cancellation_type::all); });
  };
  ensembles.all[where]->set_fault_plan(plan);
  AcquireOptions options;
  options.on_position = [&](auto&&...) { held.release(); };
  Outcome<LeaseGroup> outcome;
  observed->async_acquire(options, asio::bind_cancellation_slot(signal.slot(), outcome.handler()));
  std::string fault;
  if (!world.run_until_arrived(outcome)) return "the acquire does not end";
  const bool cancelled = cancel && outcome.error() == asio::error::operation_aborted;
  if (outcome.error() && !cancelled) fault = outcome.error().message();
  if (!outcome.error() && outcome.result().leases().size() < 2) fault = "too few";
  if (!outcome.error() && ensembles.existing(nodes_before) > 1) fault = "two hold it";
  held.release();
  LeaseGroup& leases = outcome.result();
  const auto nodes = nodes_of(leases);
  if (!expires && ensembles.existing(nodes) != std::ssize(nodes)) fault = "a node is missing";
  bool waits = false;
  auto next = other.begin({.on_position = [&waits](auto&&...) { waits = true; }});
  if (!world.run_until([&] { return waits || next.arrived(); })) {
    return "another neither waits nor gets it";
  }
  world.settle();
  if (next.arrived() && leases && (!expires || ensembles.existing(nodes) > 1)) {
    fault = "another got it while it was held";
  }
  leases.release();
  if (!world.run_until_arrived(next)) return "after the end another waits for ever";
  if (next.error()) fault = "another fails: " + next.error().message();
  next.result().release();
  plan->submitted = nullptr;
  if (!observed.end() || !other.end()) fault = "something is left in a client";
  if (!ensembles.empty()) fault = "something is left on a server";
  if (steps) *steps = plan->steps();
  return fault;
}

TEST_CASE("quorum: every fault at every request of each ensemble, and every cancellation",
          "[quorum]") {
  std::size_t cases = 0;
  for (std::size_t where = 0; where < 3; ++where) {
    std::size_t steps = 0;
    CHECK(play_quorum(where, {}, {}, &steps).empty());
    REQUIRE(steps > 0);
    for (std::size_t at = 0; at < steps; ++at) {
      for (const Fault& fault : all_faults()) {
        for (const bool cancelled : {false, true}) {
          const auto cancel = cancelled ? std::optional{Cancel{.at = at}} : std::nullopt;
          const std::string wrong = play_quorum(where, {{at, fault}}, cancel);
          if (!wrong.empty()) {
            FAIL_CHECK("ensemble " << where << ", request " << at << ": " << describe(fault)
                                   << (cancelled ? ", cancelled: " : ": ") << wrong);
          }
          ++cases;
        }
      }
    }
  }
  std::cout << "  " << cases << " cases: a quorum lock, each fault at each request\n";
}

}  // namespace
}  // namespace custodian::tests::quorum_lock_test
