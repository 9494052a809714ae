// A group whose members are in many processes, which come, go and are killed: each process knows
// the members within a second, and each change is reported once.
//
// CUSTODIAN_TEST_GROUP_PROCESSES sets the number of processes, of ten members each, and makes the
// limits strict; by default the group is small.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <mutex>
#include <random>
#include <set>

#include "crowds/crowd.hpp"
#include "custodian/nodes/group.hpp"
#include "support/number_in.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::crowds::large_group_test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Ids = std::set<std::string>;

/// Counts the changes of a group.
struct Counts {
  std::atomic<int> joined = 0;
  std::atomic<int> changed = 0;
  std::atomic<int> left = 0;
  void count(const GroupChange& change) {
    if (change.kind == GroupChangeKind::joined) ++joined;
    if (change.kind == GroupChangeKind::changed) ++changed;
    if (change.kind == GroupChangeKind::left) ++left;
  }
};

class LargeGroup {
 public:
  explicit LargeGroup(TestClient& client)
      : client_{client},
        group{*client, "/group"},
        crowd_{connect_string() + client.root(), 8s,
               [this](const std::string& worker, const Words& words) { note(worker, words); }} {
    group.wait_synced();
    counting_ = group.on_change([this](const GroupChange& change) { counts.count(change); });
  }

  void start(const std::string& worker) {
    crowd_.start(worker);
    for (int member = 0; member < 10; ++member) join(worker, member);
  }
  void join(const std::string& worker, int member) {
    const std::string id = worker + "-" + std::to_string(member);
    crowd_.tell(worker, "join " + id);
    expected.insert(id);
  }
  void leave(const std::string& worker, int member) {
    const std::string id = worker + "-" + std::to_string(member);
    crowd_.tell(worker, "leave " + id);
    expected.erase(id);
  }
  void kill(const std::string& worker) { crowd_.kill(worker); }
  [[nodiscard]] std::vector<std::string> workers() const { return crowd_.workers(); }

  /// Waits until the servers have the expected members, and then until the group and each process
  /// know them. Notes how long the second wait takes.
  void settle() {
    REQUIRE(crowd_.until([&] { return ids_of(client_->children("/group").names) == expected; },
                         patience));
    const Clock::time_point begin = Clock::now();
    REQUIRE(crowd_.until([&] { return known() == expected; }, patience));
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
    longest = std::max(longest, took);
  }
  /// Waits until each process sees all members.
  [[nodiscard]] bool all_see_all() {
    return eventually([&] {
      seen_.clear();
      for (const std::string& worker : workers()) crowd_.tell(worker, "look");
      const bool have_answered =
          crowd_.until([&] { return seen_.size() == workers().size(); }, patience);
      return have_answered && std::ranges::all_of(seen_, [&](const auto& each) {
               return each.second == std::to_string(expected.size());
             });
    });
  }
  /// Members in `ids` that the group does not know.
  [[nodiscard]] bool misses_any_of(const Ids& ids) const {
    const Ids now = known();
    return !std::ranges::includes(now, ids);
  }
  void listen() { crowd_.listen(); }

 private:
  TestClient& client_;

 public:
  Group group;
  Counts counts;
  Ids expected;
  std::chrono::milliseconds longest{0};

 private:
  static Ids ids_of(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }
  [[nodiscard]] Ids known() const {
    Ids ids;
    for (const auto& [id, payload] : group.members()) ids.insert(id);
    return ids;
  }
  void note(const std::string& worker, const Words& words) {
    if (words[0] == "sees") seen_[worker] = words[1];
  }

  Crowd crowd_;
  Subscription counting_;
  std::map<std::string, std::string> seen_;
};

TEST_CASE("a group of many processes is right within a second, through all that happens to them") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const int processes = number_in("CUSTODIAN_TEST_GROUP_PROCESSES", 3);
  const bool is_large = processes > 10;
  TestClient client{"large-group"};
  client->create("/group");
  LargeGroup crowd{client};
  for (int i = 0; i < processes; ++i) crowd.start("w" + std::to_string(i));
  crowd.settle();
  CHECK(crowd.all_see_all());
  int joined = static_cast<int>(crowd.expected.size());
  int left = 0;

  // Members go and come. A change that is undone before the next look is not reported, so each
  // change is awaited.
  std::mt19937 random{1};
  for (int turn = 0; turn < (is_large ? 300 : 10); ++turn) {
    const auto workers = crowd.workers();
    const std::string& worker = workers[random() % workers.size()];
    const int member = 1 + static_cast<int>(random() % 9);
    crowd.leave(worker, member);
    crowd.settle();
    ++left;
    crowd.join(worker, member);
    crowd.settle();
    ++joined;
  }
  CHECK(crowd.all_see_all());
  REQUIRE(eventually([&] { return crowd.counts.joined == joined && crowd.counts.left == left; }));
  CHECK(crowd.counts.changed == 0);

  // A process is killed, and started again before its session ends.
  const std::string first = crowd.workers().front();
  const Ids before = crowd.expected;
  crowd.kill(first);
  crowd.start(first);
  bool was_missed = false;
  constexpr int back = 10;  // each takes the place of its earlier life
  REQUIRE(eventually([&] {
    crowd.listen();
    was_missed = was_missed || crowd.misses_any_of(before);
    return crowd.counts.changed == back && crowd.counts.joined == joined;
  }));
  CHECK_FALSE(was_missed);

  // A process is killed for good: its members go with its session.
  crowd.kill(first);
  left += 10;
  std::erase_if(crowd.expected, [&](const std::string& id) { return id.starts_with(first + "-"); });
  crowd.settle();
  REQUIRE(eventually([&] { return crowd.counts.left == left; }));
  CHECK(crowd.counts.joined == joined);

  std::cout << "  " << processes << " processes, " << crowd.expected.size()
            << " members at the end; " << joined << " joined, " << back << " taken over, " << left
            << " left, each reported once; right after " << crowd.longest.count()
            << " ms at most\n";
  if (is_large) CHECK(crowd.longest <= 1s);
}

}  // namespace
}  // namespace custodian::tests::crowds::large_group_test
