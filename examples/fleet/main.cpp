// A fleet: instances of a service that register, find each other, share 64 shards, elect one that
// leads, and survive kills. README.md says how to try it.
//
//   custodian-example-fleet 127.0.0.1:2181 A

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/discovery/service_discovery.hpp"
#include "custodian/discovery/service_provider.hpp"
#include "custodian/leader/leader_latch.hpp"
#include "custodian/partition/set_partitioner.hpp"

namespace {

using custodian::ClientOptions;
using custodian::ForeignNode;
using custodian::OwnedShard;

constexpr const char* services_path = "/examples/fleet_services";
constexpr const char* leader_path = "/examples/fleet_leader";
constexpr const char* shards_path = "/examples/fleet_shards";

std::vector<std::string> names_of_shards() {
  std::vector<std::string> names;
  for (int shard = 0; shard < 64; ++shard) names.push_back(std::to_string(shard));
  return names;
}

/// Keeps the leases of this instance's shards.
class Shards {
 public:
  void take(OwnedShard shard) {
    const std::lock_guard lock{mutex_};
    owned_.push_back(std::move(shard));
  }
  /// Does one turn of the work. A shard that is to move leaves between two turns: its lease is
  /// released here.
  void work_on_each() {
    const std::lock_guard lock{mutex_};
    std::erase_if(owned_, [](const OwnedShard& each) { return each.stop.stop_requested(); });
    // A real instance would read the queue of each shard now. Each write carries the fencing token
    // of the shard's lease, so that a store can refuse the writes of an owner that was stopped
    // meanwhile.
  }
  [[nodiscard]] std::vector<std::string> names() const {
    const std::lock_guard lock{mutex_};
    std::vector<std::string> names;
    for (const OwnedShard& each : owned_) names.push_back(each.name);
    std::ranges::sort(names);
    return names;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<OwnedShard> owned_;
};

/// One process of the fleet.
class Instance {
 public:
  Instance(const ClientOptions& options, const std::string& id)
      : client_{options},
        discovery_{client_, services_path},
        registration_{discovery_.register_service({.name = "fleet", .id = id, .port = 8080})},
        others_{discovery_, "fleet"},
        latch_{client_, leader_path, {.id = id}},
        partitioner_{client_,
                     shards_path,
                     names_of_shards(),
                     id,
                     [this](OwnedShard shard) { shards_.take(std::move(shard)); },
                     {.same_id = ForeignNode::is_taken_over}} {
    latch_.start();
  }

  void work() { shards_.work_on_each(); }
  /// Ends the registration and the leadership at once. The shards are released with the next turns
  /// of the work.
  void begin_to_end() {
    registration_ = {};
    latch_.close();
    partitioner_.close();
  }
  [[nodiscard]] bool has_shards() const { return !shards_.names().empty(); }

  /// "3 instances (A B C); leads; 21 shards (0 3 7)"
  [[nodiscard]] std::string describe() const {
    std::vector<std::string> known;
    for (const auto& each : others_.all()) known.push_back(each.id);
    const char* const role = latch_.has_leadership() ? "leads" : "follows";
    return list(known, "instances") + "; " + role + "; " + list(shards_.names(), "shards");
  }

 private:
  static std::string list(const std::vector<std::string>& names, std::string_view of) {
    std::string text = std::to_string(names.size()).append(" ").append(of).append(" (");
    for (const std::string& each : names)
      text.append(&each == &names.front() ? "" : " ").append(each);
    return text + ")";
  }

  Shards shards_;  // outlives the client, whose threads call take()
  custodian::Client client_;
  const custodian::ServiceDiscovery discovery_;
  custodian::Registration registration_;
  custodian::ServiceProvider others_;
  custodian::LeaderLatch latch_;
  custodian::SetPartitioner partitioner_;
};

/// Works until a signal asks for the end, and prints each change.
void run(const ClientOptions& options, const std::string& id, const sigset_t& signals) {
  Instance instance{options, id};
  const timespec turn{.tv_sec = 0, .tv_nsec = 50'000'000};
  std::string printed;
  bool is_ending = false;
  while (!is_ending || instance.has_shards()) {
    instance.work();
    const std::string now = instance.describe();
    if (now != printed) std::cout << id << ": " << now << '\n' << std::flush;
    printed = now;
    if (::sigtimedwait(&signals, nullptr, &turn) < 0 || is_ending) continue;
    is_ending = true;
    instance.begin_to_end();
  }
  std::cout << id << ": ends\n" << std::flush;
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 3 && argc != 4) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...] ID [SESSION-TIMEOUT-MS]\n";
    return 2;
  }
  // The signals are blocked before any other thread exists, since threads inherit the mask: they
  // stay pending until sigtimedwait() takes one.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  try {
    ClientOptions options{.servers = argv[1]};
    if (argc == 4) {
      options.session_timeout = std::chrono::milliseconds{std::stoi(argv[3])};
      options.touch_interval = options.session_timeout / 5;
    }
    run(options, argv[2], signals);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
