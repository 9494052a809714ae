#include "custodian/leader/leader_observer.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "custodian/leader/leader_latch.hpp"
#include "custodian/leader/leader_selector.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "integration/leader/leadership.hpp"

namespace custodian::tests::leader_observer_test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("an observer shows who leads, who follows, and that nobody does") {
  TestClient root{"observed"};
  Client outside{beside(root)};
  LeaderObserver observer{outside, "/election"};
  CHECK_FALSE(observer.leader());
  CHECK_FALSE(observer.next());  // the path does not exist yet
  auto first = std::make_unique<LeaderLatch>(*root, "/election", CandidateOptions{.id = "first"});
  first->start();
  auto seen = observer.next();
  REQUIRE(seen);
  CHECK(seen->identity == "first");
  CHECK(seen->token == first->wait().token());
  LeaderLatch second{*root, "/election", {.id = "second"}};
  second.start();
  REQUIRE(eventually([&] { return second.participants().size() == 2; }));
  auto next = begun<std::optional<Participant>>([&](auto done) { observer.async_next(done); });
  // Another candidate does not change the leader.
  CHECK(next.wait_for(50ms) == std::future_status::timeout);
  first.reset();
  const auto [error, follower] = next.get();
  CHECK_FALSE(error);
  REQUIRE(follower);
  CHECK(follower->identity == "second");
  CHECK(observer.leader()->token == follower->token);
  second.close();
  CHECK_FALSE(observer.next());
}

TEST_CASE("an observer shows each identity that a leader takes") {
  TestClient root{"observed-identity"};
  Client outside{beside(root)};
  LeaderObserver observer{outside, "/election"};
  LeaderLatch latch{*root, "/election", {.id = "leader"}};
  latch.start();
  const Lease leadership = latch.wait();
  CHECK(observer.next()->identity == "leader");
  for (const std::string identity : {"leader, starting", "leader, ready"}) {
    auto next = begun<std::optional<Participant>>([&](auto done) { observer.async_next(done); });
    leadership.set_identity(identity);
    const auto [error, seen] = next.get();
    CHECK_FALSE(error);
    REQUIRE(seen);
    CHECK(seen->identity == identity);
    CHECK(seen->token == leadership.token());
  }
}

TEST_CASE("an observer sees a selector's leader, too, and outlives a disconnection") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  testing::FaultProxy proxy{own_server().endpoint()};
  TestClient root{"observed-selector"};
  Client outside{beside(root, proxy.connect_string())};
  LeaderObserver observer{outside, "/election"};
  std::atomic<bool> go = false;
  LeaderSelector selector{*root,
                          "/election",
                          [&](const Lease&, std::stop_token) {
                            static_cast<void>(eventually([&] { return go.load(); }));
                          },
                          {.candidate = {.id = "selected"}}};
  selector.start();
  REQUIRE(eventually([&] { return selector.has_leadership(); }));
  const auto leader = observer.next();
  REQUIRE(leader);
  CHECK(leader->identity == "selected");
  auto next = begun<std::optional<Participant>>([&](auto done) { observer.async_next(done); });
  proxy.refuse();
  proxy.cut();
  go = true;
  REQUIRE(eventually([&] { return names_below(*root, "/election").empty(); }));
  proxy.accept();
  const auto [error, nobody] = next.get();
  CHECK_FALSE(error);
  CHECK_FALSE(nobody);
}

TEST_CASE("one waits for the next leader at a time, until it gives up or the client ends") {
  TestClient root{"observed-once"};
  Client outside{beside(root)};
  LeaderObserver observer{outside, "/election"};
  CHECK_FALSE(observer.next());
  boost::asio::cancellation_signal signal;
  const Outcome<std::optional<Participant>> outcome;
  observer.async_next(boost::asio::bind_cancellation_slot(signal.slot(), outcome.handler()));
  CHECK(error_of([&] { static_cast<void>(observer.next()); }) == Errc::invalid_argument);
  signal.emit(boost::asio::cancellation_type::total);
  CHECK(std::get<0>(outcome.future().get()) == boost::asio::error::operation_aborted);
  std::stop_source stop;
  auto stopped = std::async(std::launch::async, [&] {
    return error_of([&] { static_cast<void>(observer.next(stop.get_token())); });
  });
  stop.request_stop();
  CHECK(stopped.get() == boost::asio::error::operation_aborted);
  auto last = begun<std::optional<Participant>>([&](auto done) { observer.async_next(done); });
  outside.close();
  CHECK(std::get<0>(last.get()) == Errc::closed);
  CHECK(error_of([&] { LeaderObserver{*root, "no path"}; }) == Errc::invalid_argument);
}

}  // namespace
}  // namespace custodian::tests::leader_observer_test
