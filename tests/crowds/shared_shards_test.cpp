// Processes that share 64 shards come, and are killed: no shard ever has two owners, each shard has
// an owner again when a session has timed out, and only shards move that must.
//
// CUSTODIAN_TEST_SHARING_SECONDS sets how long the test takes, and makes its limits strict; by
// default the test is short.

#include <algorithm>
#include <chrono>
#include <iostream>
#include <random>
#include <set>

#include "crowds/crowd.hpp"
#include "crowds/ownership.hpp"
#include "crowds/shards.hpp"
#include "partition/shard_plan.hpp"
#include "support/number_in.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::crowds::shared_shards_test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Owners = std::map<std::string, std::string>;

constexpr std::chrono::milliseconds session_timeout = 3s;

std::int64_t now() { return Clock::now().time_since_epoch().count(); }

/// The shards that the members of this group should own.
Owners plan_of(const std::vector<std::string>& members) {
  const std::set<std::string> group{members.begin(), members.end()};
  Owners plan;
  for (const std::string& shard : names_of_shards()) {
    plan[shard] = recipes_detail::owner_of_shard(shard, group);
  }
  return plan;
}

class Sharing {
 public:
  explicit Sharing(TestClient& client)
      : crowd_{connect_string() + client.root(), session_timeout,
               [this](const std::string& worker, const Words& words) { note(worker, words); }} {}

  void join(const std::string& member) {
    crowd_.start(member);
    crowd_.tell(member, "share " + member);
    settle();
  }
  void kill(const std::string& member) {
    crowd_.kill(member);
    ownership.died(member, now());
    settle();
  }
  void work(std::chrono::milliseconds time) {
    static_cast<void>(crowd_.until([] { return false; }, time));
  }
  [[nodiscard]] std::vector<std::string> members() const { return crowd_.workers(); }

  Ownership ownership;
  int changes = 0;
  int refused = 0;
  double moved = 0;  ///< shards that have changed their owner
  double fair = 0;   ///< shards that had to: the shards divided by the number of members
  std::chrono::milliseconds longest{0};

 private:
  /// Waits until every shard has the right owner, and counts the shards that have moved.
  void settle() {
    const Clock::time_point begin = Clock::now();
    const Owners before = std::exchange(settled_, plan_of(members()));
    REQUIRE(crowd_.until([&] { return ownership.owners() == settled_; }, patience));
    if (before.empty()) return;
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
    longest = std::max(longest, took);
    ++changes;
    for (const auto& [shard, owner] : settled_) moved += owner == before.at(shard) ? 0 : 1;
    const auto most = std::max(members().size(), members_before_);
    fair += 64.0 / static_cast<double>(most);
    members_before_ = members().size();
  }
  void note(const std::string& worker, const Words& words) {
    const auto number = [&](std::size_t word) { return std::stoll(words.at(word)); };
    if (words[0] == "begin") ownership.begin(worker, words[1], number(2), number(3));
    if (words[0] == "end") ownership.end(worker, words[1], number(2), number(3));
    if (words[0] == "wrote") ownership.wrote(worker, words[1], number(2), number(3));
    if (words[0] == "refused") ++refused;
  }

  Crowd crowd_;
  Owners settled_;
  std::size_t members_before_ = 0;
};

TEST_CASE("processes that share shards come and are killed, and no shard has two owners") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const std::chrono::seconds time{number_in("CUSTODIAN_TEST_SHARING_SECONDS", 0)};
  const bool is_long = time > 0s;
  const std::size_t most = is_long ? 8 : 4;
  TestClient client{"sharing"};
  for (const char* path : {"/store", "/shards"}) client->create(path);
  for (const std::string& shard : names_of_shards()) client->create("/store/" + shard);
  Sharing sharing{client};
  int number = 0;
  const auto join = [&] { sharing.join("m" + std::to_string(++number)); };
  while (sharing.members().size() < most) join();
  std::mt19937 random{1};
  const Deadline end{time};
  for (int change = 0; is_long ? !end.passed() : change < 4; ++change) {
    sharing.work(is_long ? 3s : 300ms);
    const auto members = sharing.members();
    if (members.size() == most || (members.size() > most / 2 && random() % 2 == 0)) {
      sharing.kill(members[random() % members.size()]);
    } else {
      join();
    }
    REQUIRE(sharing.ownership.violation() == "");
  }
  sharing.work(500ms);
  CHECK(sharing.ownership.violation() == "");
  CHECK(sharing.ownership.writes() > 0);
  std::cout << "  " << sharing.changes << " changes, " << sharing.ownership.writes()
            << " guarded writes, " << sharing.refused << " refused or unanswered; moved "
            << sharing.moved / sharing.fair << " times the fair share; all owned again after "
            << sharing.longest.count() << " ms at most\n";
  if (!is_long) return;
  constexpr std::chrono::milliseconds tick = 500ms;
  CHECK(sharing.moved <= 1.3 * sharing.fair);
  CHECK(sharing.longest <= session_timeout + 2 * tick);
}

}  // namespace
}  // namespace custodian::tests::crowds::shared_shards_test
