#include "custodian/leader/leader_latch.hpp"

#include <algorithm>
#include <thread>

#include "custodian/testing/testing_server.hpp"
#include "integration/leader/leadership.hpp"
#include "support/acquired.hpp"
#include "support/is_watching.hpp"

namespace custodian::tests::leader_latch_test {
namespace {

using namespace std::chrono_literals;
using enum Leadership;
using State = LeaderLatch::State;
using CloseMode = LeaderLatch::CloseMode;

TEST_CASE("the first candidate leads, and the next when it closes its latch, in order") {
  TestClient root{"latch-order"};
  std::list<LatchCandidate> candidates;
  for (int i = 0; i < 4; ++i) {
    candidates.emplace_back(root, "candidate " + std::to_string(i));
    stand(candidates.back(), static_cast<std::size_t>(i) + 1);
  }
  FencingToken latest;
  while (!candidates.empty()) {
    LatchCandidate& leader = candidates.front();
    const Lease leadership = leader.latch.wait_for(patience);
    REQUIRE(leadership);
    CHECK(leader.latch.has_leadership());
    CHECK(leadership.token() > latest);
    latest = leadership.token();
    for (LatchCandidate& each : candidates)
      CHECK(each.latch.has_leadership() == (&each == &leader));
    const auto seen = candidates.back().latch.leader();
    REQUIRE(seen);
    CHECK(seen->identity == leader.latch.id());
    CHECK(seen->token == leadership.token());
    candidates.pop_front();
  }
}

TEST_CASE("the participants of an election are those who stand, the leader first") {
  TestClient root{"latch-participants"};
  LatchCandidate first{root, "first"};
  CHECK(first.latch.participants().empty());  // the election path does not exist yet
  CHECK_FALSE(first.latch.leader());
  stand(first, 1);
  LatchCandidate second{root, "second"};
  LatchCandidate bystander{root, "bystander"};
  stand(second, 2);
  const auto participants = bystander.latch.participants();
  REQUIRE(participants.size() == 2);
  CHECK(participants[0].identity == "first");
  CHECK(participants[0].session == first.client.session().id);
  CHECK(participants[1].identity == "second");
  second.latch.close();
  CHECK(eventually([&] { return bystander.latch.participants().size() == 1; }));
}

TEST_CASE("a candidate without an id goes by its client's identity") {
  TestClient root{"latch-id"};
  LeaderLatch latch{*root, election_path};
  CHECK(latch.id() == root->identity());
  latch.start();
  REQUIRE(acquired(latch.wait_for(patience)));
  CHECK(latch.leader()->identity == root->identity());
}

TEST_CASE("a leader whose node is deleted is told, and stands again") {
  TestClient root{"latch-vanished"};
  LatchCandidate first{root, "first"};
  const Lease leadership = lead(first);
  LatchCandidate second{root, "second"};
  stand(second, 2);
  root->remove(leadership.node());
  REQUIRE(acquired(second.latch.wait_for(patience)));
  REQUIRE(eventually([&] { return first.heard.is({gained, ended}); }));
  CHECK(leadership.state() == LeaseState::lost);
  REQUIRE(eventually([&] { return first.latch.participants().size() == 2; }));
  CHECK(first.latch.participants()[1].identity == "first");
  second.latch.close();
  REQUIRE(acquired(first.latch.wait_for(patience)));
  CHECK(eventually([&] { return first.heard.is({gained, ended, gained}); }));
}

TEST_CASE("a candidate whose node is deleted stands again, behind the others") {
  TestClient root{"latch-vanished-candidate"};
  LatchCandidate first{root, "first"};
  LatchCandidate second{root, "second"};
  LatchCandidate third{root, "third"};
  const Lease leadership = lead(first);
  stand(second, 2);
  stand(third, 3);
  root->remove(first.latch.participants()[1].node);
  REQUIRE(eventually([&] {
    const auto now = first.latch.participants();
    return now.size() == 3 && now[1].identity == "third" && now[2].identity == "second";
  }));
  CHECK(first.heard.is({gained}));
}

TEST_CASE("the whole path is wiped: somebody leads again, and only one") {
  TestClient root{"latch-wiped"};
  std::list<LatchCandidate> candidates;
  for (int i = 0; i < 3; ++i) {
    candidates.emplace_back(root, std::to_string(i));
    stand(candidates.back(), static_cast<std::size_t>(i) + 1);
  }
  REQUIRE(acquired(candidates.front().latch.wait_for(patience)));
  const auto leaders = [&] {
    return std::ranges::count_if(candidates,
                                 [](auto& each) { return each.latch.has_leadership(); });
  };
  for (int times = 0; times < 3; ++times) {
    const auto before = candidates.front().latch.leader();
    root->remove(election_path,
                 {.missing = Missing::is_fine, .descendants = Descendants::are_removed});
    REQUIRE(eventually([&] {
      const auto now = candidates.front().latch.leader();
      return now && before && now->token > before->token && leaders() == 1 &&
             candidates.front().latch.participants().size() == 3;
    }));
  }
}

TEST_CASE("a maximum time makes the leadership go round") {
  TestClient root{"latch-rotation"};
  LatchCandidate first{root, "first", connect_string(), {.hold_at_most = 300ms}};
  LatchCandidate second{root, "second", connect_string(), {.hold_at_most = 300ms}};
  stand(first, 1);
  stand(second, 2);
  REQUIRE(eventually(
      [&] { return first.heard.told().size() >= 3 && second.heard.told().size() >= 3; }));
}

TEST_CASE("closing a leading latch tells its listeners only if it is asked to") {
  TestClient root{"latch-close-modes"};
  LatchCandidate silent{root, "silent"};
  stand(silent, 1);
  REQUIRE(eventually([&] { return silent.heard.is({gained}); }));
  silent.latch.close();
  LatchCandidate notifying{root, "notifying"};
  notifying.latch.start();
  REQUIRE(eventually([&] { return notifying.heard.is({gained}); }));
  notifying.latch.close(CloseMode::notify_leader);
  REQUIRE(eventually([&] { return notifying.heard.is({gained, ended}); }));
  CHECK(silent.heard.is({gained}));

  LatchCandidate waiting{root, "waiting"};
  LatchCandidate leading{root, "leading"};
  leading.latch.start();
  REQUIRE(acquired(leading.latch.wait_for(patience)));
  stand(waiting, 2);
  waiting.latch.close(CloseMode::notify_leader);
  REQUIRE(eventually([&] { return leading.latch.participants().size() == 1; }));
  CHECK(waiting.heard.told().empty());  // it was never the leader
}

TEST_CASE("another one leads only when the listeners of the one before have been told") {
  TestClient root{"latch-told-first"};
  LatchCandidate first{root, "first"};
  LatchCandidate second{root, "second"};
  stand(first, 1);
  // A leader that closes before its listeners heard of the term does not notify them of its end.
  REQUIRE(eventually([&] { return first.heard.is({gained}); }));
  stand(second, 2);
  std::atomic<bool> is_being_told = false;
  std::atomic<bool> go = false;
  const Subscription slow = first.latch.on_leadership([&](Leadership now) {
    if (now != ended) return;
    is_being_told = true;
    static_cast<void>(eventually([&] { return go.load(); }));
  });
  first.latch.close(CloseMode::notify_leader);
  REQUIRE(eventually([&] { return is_being_told.load(); }));
  CHECK_FALSE(acquired(second.latch.wait_for(100ms)));
  go = true;
  CHECK(acquired(second.latch.wait_for(patience)));
}

TEST_CASE("a leader hears of its deleted node by a watch, long before its next beat") {
  // Beats are sent every sixth of this timeout: much later than any wait here ends.
  Server server{{.max_session_timeout = 2h}};
  TestClient root{"latch-watch", server.connect_string(), 2h};
  LatchCandidate lone{root, "lone", server.connect_string(), {}, 2h};
  const Lease leadership = lead(lone);
  REQUIRE(eventually([&] { return is_watching(lone.client); }));
  root->remove(leadership.node());
  REQUIRE(eventually([&] { return lone.heard.is({gained, ended, gained}); }));
  CHECK(leadership.loss_reason() == LossReason::node_deleted);
}

TEST_CASE("a latch is started once, and again when it was closed") {
  TestClient root{"latch-states"};
  LeaderLatch latch{*root, election_path};
  CHECK(latch.state() == State::latent);
  CHECK_FALSE(latch.has_leadership());
  latch.start();
  CHECK(latch.state() == State::started);
  CHECK(error_of([&] { latch.start(); }) == Errc::invalid_argument);
  REQUIRE(acquired(latch.wait_for(patience)));
  latch.close();
  latch.close();
  CHECK(latch.state() == State::closed);
  CHECK_FALSE(latch.has_leadership());
  CHECK(latch.leadership().state() == LeaseState::released);
  CHECK(error_of([&] { static_cast<void>(latch.wait()); }) == Errc::closed);
  latch.start();
  CHECK(latch.state() == State::started);
  CHECK(error_of([&] { latch.start(); }) == Errc::invalid_argument);
  CHECK(acquired(latch.wait_for(patience)));
  CHECK(error_of([&] { LeaderLatch{*root, "no path"}; }) == Errc::invalid_argument);
}

TEST_CASE(
    "a latch that is started again leads by another node, and its listeners hear all in order") {
  TestClient root{"latch-again"};
  LatchCandidate candidate{root, "candidate"};
  FencingToken before = lead(candidate).token();
  std::vector<Leadership> expected{gained};
  for (int times = 0; times < 3; ++times) {
    auto closed = begun<Lease>([&](auto done) {
      candidate.latch.close(CloseMode::notify_leader);
      candidate.latch.async_wait(done);
    });
    candidate.latch.start();
    CHECK(std::get<0>(closed.get()) == Errc::closed);
    const Lease leadership = candidate.latch.wait_for(patience);
    REQUIRE(leadership);
    CHECK(leadership.token() > before);
    before = leadership.token();
    expected.insert(expected.end(), {ended, gained});
    REQUIRE(eventually([&] { return candidate.heard.is(expected); }));
  }
  CHECK(candidate.latch.participants().size() == 1);
  CHECK(candidate.client.close(Deadline{patience}));
  CHECK(error_of([&] { candidate.latch.start(); }) == Errc::closed);
  CHECK(eventually([&] { return candidate.latch.state() == State::closed; }));
}

TEST_CASE("a latch that several threads start and close again and again leads when it is started") {
  TestClient root{"latch-again-races"};
  LatchCandidate candidate{root, "candidate"};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 3; ++thread) {
      threads.emplace_back([&] {
        for (int times = 0; times < 30; ++times) {
          static_cast<void>(error_of([&] { candidate.latch.start(); }));
          static_cast<void>(error_of([&] { static_cast<void>(candidate.latch.wait_for(1ms)); }));
          candidate.latch.close(CloseMode::notify_leader);
        }
      });
    }
  }
  CHECK(candidate.latch.state() == State::closed);
  candidate.latch.start();
  CHECK(acquired(candidate.latch.wait_for(patience)));
  CHECK(eventually([&] { return candidate.latch.participants().size() == 1; }));
  candidate.latch.close(CloseMode::notify_leader);
  CHECK(eventually([&] { return names_below(*root, election_path).empty(); }));
  const auto told = [&] { return candidate.heard.told(); };
  REQUIRE(eventually([&] { return told().size() % 2 == 0; }));
  const auto all = told();
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == (i % 2 == 0 ? gained : ended));
}

TEST_CASE("a leader changes what others see of it, until its leadership ends") {
  TestClient root{"latch-identity"};
  LatchCandidate leader{root, "leader"};
  Lease leadership = lead(leader);
  leadership.set_identity("leader, at work");
  CHECK(root->get(leadership.node()).data == "leader, at work");
  CHECK(leader.latch.participants()[0].identity == "leader, at work");
  CHECK(leader.latch.id() == "leader");
  root->remove(leadership.node());
  CHECK(error_of([&] { leadership.set_identity("too late"); }) == Errc::lock_lost);
  leadership.release();
  REQUIRE(eventually([&] { return leader.heard.is({gained, ended, gained}); }));
  CHECK(leader.latch.leader()->identity == "leader");
}

TEST_CASE("whoever waits for leadership is told of it, of the end, or that it is late") {
  TestClient root{"latch-waits"};
  LatchCandidate leader{root, "leader"};
  leader.latch.start();
  REQUIRE(acquired(leader.latch.wait_for(patience)));
  LeaderLatch latch{*root, election_path};
  auto early = begun<Lease>([&](auto done) { latch.async_wait(done); });  // begun before start()
  latch.start();
  CHECK_FALSE(acquired(latch.wait_for(20ms)));
  std::stop_source stop;
  auto stopped = std::async(std::launch::async, [&] {
    return error_of([&] { static_cast<void>(latch.wait(stop.get_token())); });
  });
  stop.request_stop();
  CHECK(stopped.get() == boost::asio::error::operation_aborted);
  leader.latch.close();
  auto [error, leadership] = early.get();
  CHECK_FALSE(error);
  CHECK(leadership.state() == LeaseState::held);

  LeaderLatch another{*root, election_path};
  auto never_started = begun<Lease>([&](auto done) { another.async_wait(done); });
  another.close();
  CHECK(std::get<0>(never_started.get()) == Errc::closed);
}

TEST_CASE("a shared leadership outlives its latch until it is released") {
  TestClient root{"latch-shared"};
  LatchCandidate first{root, "first"};
  LatchCandidate second{root, "second"};
  stand(first, 1);
  Lease work = first.latch.wait_for(patience);
  REQUIRE(work);
  stand(second, 2);
  first.latch.close();
  CHECK_FALSE(first.latch.has_leadership());
  CHECK(work.state() == LeaseState::held);
  CHECK_FALSE(acquired(second.latch.wait_for(50ms)));
  work.release();
  CHECK(acquired(second.latch.wait_for(patience)));
}

TEST_CASE("latches that are started and closed by several threads at once leave no node") {
  TestClient root{"latch-races"};
  for (int round = 0; round < 20; ++round) {
    LeaderLatch latch{*root, election_path};
    std::vector<std::jthread> threads;
    threads.emplace_back([&] { static_cast<void>(error_of([&] { latch.start(); })); });
    threads.emplace_back([&] { latch.close(); });
    threads.emplace_back([&] { static_cast<void>(error_of([&] { latch.start(); })); });
    threads.emplace_back(
        [&] { static_cast<void>(error_of([&] { static_cast<void>(latch.wait_for(1ms)); })); });
  }
  CHECK(eventually([&] { return names_below(*root, election_path).empty(); }));
}

TEST_CASE("a client that is closed takes its latches along, and a draining one does not wait") {
  TestClient root{"latch-client-closed"};
  LatchCandidate candidate{root, "candidate"};
  stand(candidate, 1);
  REQUIRE(eventually([&] { return candidate.heard.is({gained}); }));
  CHECK(candidate.client.close(Deadline{patience}));  // the leader releases
  CHECK(eventually([&] { return candidate.latch.state() == State::closed; }));
  CHECK(eventually([&] { return candidate.heard.is({gained, ended}); }));
  CHECK(error_of([&] { LeaderLatch{candidate.client, election_path}.start(); }) == Errc::closed);
  LatchCandidate next{root, "next"};
  next.latch.start();
  CHECK(acquired(next.latch.wait_for(patience)));
}

TEST_CASE("an election that may not be entered is told, and entered when it may be") {
  TestClient root{"latch-forbidden"};
  root->create(election_path, "", {.acl = read_acl()});
  std::atomic<int> told = 0;
  LeaderLatch latch{*root, election_path, {.on_error = [&](error_code error) {
                      if (error == ServerErrc::no_auth) ++told;
                    }}};
  latch.start();
  REQUIRE(eventually([&] { return told >= 2; }));
  CHECK(latch.state() == State::started);
  latch.close();
}

}  // namespace
}  // namespace custodian::tests::leader_latch_test
