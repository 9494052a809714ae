#include <regex>

#include "custodian/testing/testing_cluster.hpp"
#include "servers.hpp"

namespace custodian::bench {
namespace {

using testing::TestingCluster;
using testing::TestingServer;
using testing::TestingServerOptions;

TestingServerOptions as_in_earnest() {
  TestingServerOptions options;
  options.tick_time = std::chrono::seconds{2};
  options.force_sync = true;
  options.container_check_interval = std::chrono::minutes{1};
  options.start_timeout = std::chrono::seconds{60};
  // A harness' server lives a short life, and has its compiler limited. This one has not.
  options.java_options = {"-XX:TieredStopAtLevel=4", "-Xmx1g"};
  return options;
}

class ZooKeeper final : public Servers {
 public:
  explicit ZooKeeper(Ensemble size) {
    if (size == Ensemble::three) {
      cluster_.emplace(testing::TestingClusterOptions{.server = as_in_earnest()});
    } else {
      server_.emplace(as_in_earnest());
    }
  }

  [[nodiscard]] std::string address() const override {
    return cluster_ ? cluster_->connect_string() : server_->connect_string();
  }
  [[nodiscard]] std::vector<std::uint16_t> ports() const override {
    std::vector<std::uint16_t> ports;
    for (const TestingServer* server : members()) ports.push_back(server->port());
    return ports;
  }
  [[nodiscard]] std::optional<std::int64_t> requests() const override {
    std::int64_t sum = 0;
    for (const TestingServer* server : members()) sum += server->statistic("zk_packets_received");
    return sum;
  }
  [[nodiscard]] std::map<std::string, std::int64_t> notices() const override {
    static const std::regex line{R"(recved=(\d+),sent=(\d+),sid=0x([0-9a-f]+))"};
    std::map<std::string, std::int64_t> result;
    for (const TestingServer* server : members()) {
      const std::string text = server->four_letter_word("cons");
      for (std::sregex_iterator found{text.begin(), text.end(), line}, end; found != end; ++found) {
        result[(*found)[3]] = std::stoll((*found)[2]) - std::stoll((*found)[1]);
      }
    }
    return result;
  }

 private:
  [[nodiscard]] std::vector<const TestingServer*> members() const {
    std::vector<const TestingServer*> result;
    if (server_) result.push_back(&*server_);
    for (std::size_t i = 0; cluster_ && i < cluster_->size(); ++i)
      result.push_back(&cluster_->server(i));
    return result;
  }

  std::optional<TestingServer> server_;
  std::optional<TestingCluster> cluster_;
};

}  // namespace

std::unique_ptr<Servers> start_zookeeper(Ensemble size) {
  return std::make_unique<ZooKeeper>(size);
}

}  // namespace custodian::bench
