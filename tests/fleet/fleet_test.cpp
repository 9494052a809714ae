// The example of a fleet: whatever happens to its processes, those that live find each other and no
// other, one of them leads, and each shard has one owner.

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "child_process/child_process.hpp"
#include "custodian/testing/testing_server.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::fleet_test {
namespace {

using Names = std::vector<std::string>;

/// The words in the first parentheses behind a word.
Names names_behind(const std::string& line, const std::string& word) {
  const auto begin = line.find("(", line.find(word));
  std::istringstream text{line.substr(begin + 1, line.find(")", begin) - begin - 1)};
  Names names;
  for (std::string name; text >> name;) names.push_back(name);
  return names;
}

/// A process of the fleet, and its last line.
class Instance {
 public:
  Instance(const std::string& servers, const std::string& id)
      // The kernel ends the instance with this process, even if this one is killed.
      : process_{CUSTODIAN_SETPRIV,
                 {"--pdeathsig", "KILL", CUSTODIAN_EXAMPLE_FLEET, servers, id, "4000"}} {}

  void kill() { process_.kill(); }
  /// Reads what was printed since the last call.
  void listen() {
    for (;;) {
      pollfd readable{process_.descriptor(), POLLIN, 0};
      if (process_.has_ended() || ::poll(&readable, 1, 0) <= 0) return;
      for (std::string& line : process_.listen()) last_ = std::move(line);
    }
  }
  [[nodiscard]] const std::string& last() const { return last_; }
  [[nodiscard]] Names known() const { return names_behind(last_, " instances "); }
  [[nodiscard]] Names shards() const { return names_behind(last_, " shards "); }
  [[nodiscard]] bool leads() const { return last_.find("; leads; ") != std::string::npos; }
  /// Sends SIGTERM. Returns whether the process has given everything up, with exit status 0.
  [[nodiscard]] bool ends_in_order() {
    process_.send_signal(SIGTERM);
    const bool has_ended = eventually([this] {
      listen();
      return process_.has_ended();
    });
    return has_ended && process_.has_succeeded() && last_.ends_with(": ends");
  }

 private:
  testing::ChildProcess process_;
  std::string last_;
};

class Fleet {
 public:
  void start(const std::string& id) {
    running_[id] = std::make_unique<Instance>(server_.connect_string(), id);
  }
  void kill(const std::string& id) {
    running_.at(id)->kill();
    running_.erase(id);
  }
  [[nodiscard]] bool ends_in_order(const std::string& id) {
    const bool result = running_.at(id)->ends_in_order();
    running_.erase(id);
    return result;
  }
  [[nodiscard]] std::string leader() {
    for (const auto& [id, each] : running_) {
      if (each->leads()) return id;
    }
    return {};
  }
  [[nodiscard]] std::size_t size() const { return running_.size(); }
  [[nodiscard]] std::string first() const { return running_.begin()->first; }

  /// Waits until all is as it should be. Returns the first fault, in words, if time runs out; empty
  /// otherwise.
  [[nodiscard]] std::string settle() {
    std::string wrong;
    const bool is_settled = eventually([&] {
      wrong = fault();
      return wrong.empty();
    });
    return is_settled ? std::string{} : wrong;
  }

 private:
  [[nodiscard]] std::string fault() {
    Names all;
    Names shards;
    int leaders = 0;
    for (const auto& [id, each] : running_) all.push_back(id);
    for (const auto& [id, each] : running_) {
      each->listen();
      if (each->last().empty() || each->known() != all) return id + " knows: " + each->last();
      for (std::string& name : each->shards()) shards.push_back(std::move(name));
      if (each->leads()) ++leaders;
    }
    const std::set<std::string> owned{shards.begin(), shards.end()};
    if (leaders != 1) return std::to_string(leaders) + " lead";
    if (owned.size() != shards.size()) return "a shard is owned twice";
    if (shards.size() != 64) return std::to_string(shards.size()) + " shards are owned";
    return {};
  }

  Server server_;
  std::map<std::string, std::unique_ptr<Instance>> running_;
};

TEST_CASE(
    "the example of a fleet: those that live find each other, share the shards, and one leads") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Fleet fleet;
  for (const char* id : {"A", "B", "C", "D", "E"}) fleet.start(id);
  REQUIRE(fleet.settle() == "");
  // The leader is killed, and another one.
  fleet.kill(fleet.leader());
  fleet.kill(fleet.first());
  REQUIRE(fleet.size() == 3);
  REQUIRE(fleet.settle() == "");
  // An instance is killed, and starts again before its session ends; a new instance joins.
  const std::string again = fleet.first();
  fleet.kill(again);
  fleet.start(again);
  fleet.start("F");
  REQUIRE(fleet.settle() == "");
  // The leader ends in order.
  CHECK(fleet.ends_in_order(fleet.leader()));
  REQUIRE(fleet.settle() == "");
  while (fleet.size() > 0) CHECK(fleet.ends_in_order(fleet.first()));
}

}  // namespace
}  // namespace custodian::tests::fleet_test
