// Two workers that share eight shards; one of them goes home.
//
//   custodian-example-partition 127.0.0.1:2181

#include <chrono>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/partition/set_partitioner.hpp"

namespace {

/// A worker of its own session. Each shard is worked on by a thread, until it is asked to stop.
class Worker {
 public:
  Worker(const std::string& servers, const std::string& id)
      : client_{servers},
        partitioner_{client_,
                     "/examples/shards",
                     {"0", "1", "2", "3", "4", "5", "6", "7"},
                     id,
                     [this](custodian::OwnedShard shard) { begin(std::move(shard)); }} {}

  [[nodiscard]] std::size_t shards() const { return partitioner_.shards().size(); }
  void go_home() { partitioner_.close(); }

 private:
  void begin(custodian::OwnedShard shard) {
    const std::lock_guard lock{mutex_};
    threads_.emplace_back([shard = std::move(shard)] {
      // Unless the lease is lost, this worker owns the shard until the lease is destroyed, at the
      // end of the thread.
      while (!shard.stop.stop_requested()) {
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
      }
    });
  }

  std::mutex mutex_;
  std::vector<std::jthread> threads_;
  custodian::Client client_;
  custodian::SetPartitioner partitioner_;
};

void wait_for(const Worker& worker, std::size_t shards) {
  while (worker.shards() != shards) std::this_thread::sleep_for(std::chrono::milliseconds{5});
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    Worker first{argv[1], "worker-1"};
    wait_for(first, 8);
    std::cout << "worker-1 has all eight\n";
    Worker second{argv[1], "worker-2"};
    while (first.shards() == 8 || first.shards() + second.shards() != 8) {
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    std::cout << "two workers have eight between them\n";
    second.go_home();
    wait_for(first, 8);
    std::cout << "worker-1 has all eight again\n";
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
