// A quorum lock over three ensembles, which fail one by one.

#include "custodian/lock_sets/quorum_lock.hpp"

#include <boost/asio/post.hpp>
#include <functional>

#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/lock_sets/quorum.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::quorum_lock_test {

namespace asio = boost::asio;

namespace {

using namespace std::chrono_literals;
using quorum::Ensembles;
using quorum::path;
using quorum::QuorumContender;

TEST_CASE("quorum: all ensembles are had where all are to be had; a majority of them suffices",
          "[quorum]") {
  Ensembles ensembles;
  QuorumContender contender{ensembles, "contender"};
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
    QuorumContender contender{ensembles, "contender", 30ms};
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
  QuorumContender contender{ensembles, "contender", 10ms};
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
  QuorumContender contender{ensembles, "contender", 30ms};
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
    std::vector<std::unique_ptr<QuorumContender>> contenders;
    for (int i = 0; i < 5; ++i) {
      contenders.push_back(
          std::make_unique<QuorumContender>(ensembles, "c" + std::to_string(i) + "-", 20ms));
    }
    if (away < 3) ensembles.all[away]->stop();
    int inside = 0;
    int turns = 0;
    bool two_at_once = false;
    std::function<void(QuorumContender&)> take_turn = [&](QuorumContender& contender) {
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
  QuorumContender contender{ensembles, "contender"};
  QuorumContender other{ensembles, "other"};
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
  QuorumContender contender{ensembles, "contender"};
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

}  // namespace
}  // namespace custodian::tests::quorum_lock_test
