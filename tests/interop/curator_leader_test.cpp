// Elections in which Apache Curator's candidates and ours stand together.

#include <algorithm>
#include <iostream>
#include <list>
#include <optional>
#include <sstream>

#include "curator.hpp"
#include "custodian/leader/leader_observer.hpp"
#include "stage.hpp"

namespace custodian::tests::curator_leader_test {
namespace {

using namespace std::chrono_literals;

constexpr auto session_timeout = 3s;

/// A process that stands for election with one candidate.
struct Candidate {
  Candidate(const Peer& peer, const std::string& id)
      : name{peer.name}, driver{peer}, session{driver, id, session_timeout} {}

  std::string name;
  Driver driver;
  Session session;
};

struct Term {
  std::int64_t token = 0;
  std::int64_t since = 0;  ///< the beginning of the term, by CLOCK_MONOTONIC, in ns
};

/// Starts three candidates of each library, and kills each leader until one is left. Each candidate
/// leads once, and only after the previous leader's death.
void kill_leaders(const std::string& kind) {
  Stage stage{"leaders"};
  const std::string path = stage.path("election");
  std::list<Candidate> candidates;
  for (int number = 0; number < 3; ++number) {
    for (const Peer& peer : {ours(), curator()}) {
      std::string id = peer.name;
      id.append("-").append(std::to_string(number));
      Candidate& candidate = candidates.emplace_back(peer, id);
      candidate.session.begin("lead " + kind + " " + path);
      REQUIRE(stage.becomes(path, candidates.size()));
    }
  }
  LeaderObserver observer{stage.client(), "/election"};

  Term last;
  std::int64_t killed = 0;
  std::int64_t longest = 0;
  std::string order;
  while (!candidates.empty()) {
    auto leader = candidates.end();
    REQUIRE(eventually([&] {
      leader =
          std::ranges::find_if(candidates, [](auto& each) { return each.session.has_ended(); });
      return leader != candidates.end();
    }));
    Term term;
    REQUIRE(std::istringstream{leader->session.end()} >> term.token >> term.since);
    CHECK(term.token > last.token);
    CHECK(term.since > killed);  // the previous leader was dead by then
    if (killed != 0) longest = std::max(longest, term.since - killed);
    const auto seen = observer.leader();
    REQUIRE(seen);
    CHECK(seen->token.value == term.token);
    CHECK(seen->session == leader->session.id());
    for (Candidate& each : candidates) {
      if (&each != &*leader) CHECK_FALSE(each.session.has_ended());
    }
    order.append(order.empty() ? "" : ", ").append(leader->name);
    last = term;
    killed = std::chrono::steady_clock::now().time_since_epoch().count();
    leader->driver.kill();
    candidates.erase(leader);
  }
  std::cout << "  " << kind << ": " << order << " led, each killed; nobody led for "
            << longest / 1'000'000 << " ms at most, with sessions of "
            << std::chrono::milliseconds{session_timeout}.count() << " ms\n";
}

TEST_CASE("latches of ours and of Curator's lead one after the other when each leader is killed") {
  CUSTODIAN_REQUIRES_CURATOR();
  kill_leaders("latch");
}

TEST_CASE(
    "selectors of ours and of Curator's lead one after the other when each leader is killed") {
  CUSTODIAN_REQUIRES_CURATOR();
  kill_leaders("selector");
}

}  // namespace
}  // namespace custodian::tests::curator_leader_test
