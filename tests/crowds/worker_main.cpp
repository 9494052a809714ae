/// \file
/// A process of a crowd: members of a group, and a part of 64 shards, by the words of crowd.hpp.
///
///   custodian-crowd-worker SERVERS SESSION-TIMEOUT-MS

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "crowds/shards.hpp"
#include "custodian/client.hpp"
#include "custodian/nodes/group_member.hpp"
#include "custodian/nodes/persistent_node.hpp"
#include "custodian/partition/set_partitioner.hpp"

namespace custodian::tests::crowds {
namespace {

/// Prints whole lines, from any thread.
void say(const std::string& line) {
  static std::mutex mutex;
  const std::lock_guard lock{mutex};
  std::cout << line + '\n' << std::flush;
}

/// The time of a clock that all processes of a machine share, in nanoseconds.
std::string now() {
  return std::to_string(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// The shards that this process owns: each of its turns writes to each of them.
class Work {
 public:
  void take(OwnedShard shard) {
    say("begin " + shard.name + " " + token_of(shard) + " " + now());
    const std::lock_guard lock{mutex_};
    owned_.push_back(std::move(shard));
  }
  void turn(Client& client, const std::string& id) {
    std::vector<OwnedShard> ended;
    const std::lock_guard lock{mutex_};
    std::erase_if(owned_, [&](OwnedShard& each) {
      if (!each.stop.stop_requested()) return false;
      ended.push_back(std::move(each));
      return true;
    });
    // The end is reported before the lease is released.
    for (const OwnedShard& each : ended) {
      say("end " + each.name + " " + token_of(each) + " " + now());
    }
    ended.clear();
    for (const OwnedShard& each : owned_) write(client, id, each);
  }

 private:
  static std::string token_of(const OwnedShard& shard) {
    return std::to_string(shard.lease.token().value);
  }
  /// A write that the servers refuse unless the shard's lock is held.
  static void write(Client& client, const std::string& id, const OwnedShard& shard) {
    client.async_commit(
        {shard.lease.check(), set("/store/" + shard.name, token_of(shard) + " " + id)},
        {.deadline = std::chrono::seconds{5}},
        [name = shard.name, token = token_of(shard)](
            error_code error, const std::vector<TransactionResult>& results) {
          if (error) return say("refused " + name + " " + token + " " + error.message());
          say("wrote " + name + " " + token + " " + std::to_string(results[1].stat.mzxid));
        });
  }

  std::mutex mutex_;
  std::vector<OwnedShard> owned_;
};

class Worker {
 public:
  explicit Worker(const ClientOptions& options) : client_{options} {}

  void obey(const std::string& line) {
    std::istringstream text{line};
    std::string word;
    std::string id;
    text >> word >> id;
    if (word == "join") join(id);
    if (word == "leave") leave(id);
    if (word == "look") say("sees " + std::to_string(member_->members().size()));
    if (word == "share") share(id);
  }
  void turn() {
    if (shares_) work_.turn(client_, shares_->id());
  }

 private:
  /// The first member sees the group; the others are nodes alone.
  void join(const std::string& id) {
    constexpr auto restarted = ForeignNode::is_taken_over;
    if (!member_) {
      member_.emplace(client_, "/group", id, id, GroupMemberOptions{.same_id = restarted});
      member_->async_wait_joined(OperationOptions{}, [id](error_code) { say("joined " + id); });
      return;
    }
    auto& node = nodes_[id];
    node = std::make_unique<PersistentNode>(client_, "/group/" + id, id,
                                            PersistentNodeOptions{.foreign_node = restarted});
    node->async_wait_present([id](error_code) { say("joined " + id); });
  }
  void leave(const std::string& id) {
    const auto node = nodes_.extract(id);
    if (!node.empty() && node.mapped()->close()) say("left " + id);
  }
  void share(const std::string& id) {
    shares_.emplace(client_, "/shards", names_of_shards(), id,
                    [this](OwnedShard shard) { work_.take(std::move(shard)); });
  }

  Work work_;
  Client client_;
  std::optional<GroupMember> member_;
  std::map<std::string, std::unique_ptr<PersistentNode>> nodes_;
  std::optional<SetPartitioner> shares_;
};

void run(const ClientOptions& options) {
  Worker worker{options};
  for (;;) {
    constexpr int turn_ms = 100;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    while (std::cin.rdbuf()->in_avail() > 0 || ::poll(&input, 1, turn_ms) > 0) {
      std::string line;
      if (!std::getline(std::cin, line)) return;
      worker.obey(line);
    }
    worker.turn();
  }
}

}  // namespace
}  // namespace custodian::tests::crowds

int main(int argc, char* argv[]) {
  if (argc != 3) return 2;
  std::ios::sync_with_stdio(false);  // so that in_avail() knows of lines that were read already
  try {
    const std::chrono::milliseconds timeout{std::stoi(argv[2])};
    custodian::tests::crowds::run(
        {.servers = argv[1], .session_timeout = timeout, .touch_interval = timeout / 5});
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
