#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "custodian/testing/certificate_authority.hpp"
#include "custodian/testing/testing_cluster.hpp"
#include "servers.hpp"

namespace custodian::bench {
namespace {

using testing::CertificateAuthority;
using testing::TestingCluster;
using testing::TestingServer;
using testing::TestingServerOptions;

TestingServerOptions as_in_earnest() {
  TestingServerOptions options;
  options.tick_time = std::chrono::seconds{2};
  options.force_sync = true;
  options.container_check_interval = std::chrono::minutes{1};
  options.start_timeout = std::chrono::seconds{60};
  // The testing library limits Java's compiler and memory, since its servers are short-lived. These
  // options undo that.
  options.java_options = {"-XX:TieredStopAtLevel=4", "-Xmx1g"};
  return options;
}

class ZooKeeper final : public Servers {
 public:
  ZooKeeper(Kind kind, Ensemble size) {
    TestingServerOptions options = as_in_earnest();
    if (kind == Kind::zookeeper_netty)
      options.connection_factory = testing::ConnectionFactory::netty;
    if (kind == Kind::zookeeper_tls) {
      options.tls = authority_.emplace().server_tls();
      be_trusted();
    }
    if (size == Ensemble::one) {
      members_ = {&server_.emplace(options)};
      return;
    }
    cluster_.emplace(testing::TestingClusterOptions{.server = options});
    const std::size_t leader = cluster_->wait_for_leader();
    for (std::size_t i = 1; i <= cluster_->size(); ++i)
      members_.push_back(&cluster_->server((leader + i) % cluster_->size()));
  }

  [[nodiscard]] std::string address(std::size_t process) const override {
    const TestingServer& server = *members_[process % members_.size()];
    return authority_ ? "secure://" + to_string(server.secure_endpoint()) : server.connect_string();
  }
  [[nodiscard]] std::vector<std::uint16_t> ports() const override {
    std::vector<std::uint16_t> ports;
    for (const TestingServer* server : members_)
      ports.push_back(authority_ ? server->secure_endpoint().port : server->port());
    return ports;
  }
  [[nodiscard]] std::optional<std::int64_t> requests() const override {
    std::int64_t sum = 0;
    for (const TestingServer* server : members_) sum += server->statistic("zk_packets_received");
    return sum;
  }
  [[nodiscard]] std::int64_t ephemeral_nodes() const override {
    // Servers may lag behind: the smallest count is of nodes that all servers know.
    std::vector<std::int64_t> known;
    for (const TestingServer* server : members_)
      known.push_back(server->statistic("zk_ephemerals_count"));
    return *std::min_element(known.begin(), known.end());
  }
  [[nodiscard]] std::map<std::string, std::int64_t> notices() const override {
    static const std::regex line{R"(recved=(\d+),sent=(\d+),sid=0x([0-9a-f]+))"};
    std::map<std::string, std::int64_t> result;
    for (const TestingServer* server : members_) {
      const std::string text = server->four_letter_word("cons");
      for (std::sregex_iterator found{text.begin(), text.end(), line}, end; found != end; ++found) {
        result[(*found)[3]] = std::stoll((*found)[2]) - std::stoll((*found)[1]);
      }
    }
    return result;
  }
  [[nodiscard]] std::int64_t unanswered() const override {
    std::int64_t sum = 0;
    for (const TestingServer* server : members_)
      sum += server->statistic("zk_outstanding_requests");
    return sum;
  }

 private:
  /// Makes the drivers that start from now on trust the authority instead of the system's ones.
  void be_trusted() {
    files_.emplace(std::filesystem::temp_directory_path());
    const std::string file = files_->file("authority.pem");
    std::ofstream{file} << authority_->certificate();
    ::setenv("SSL_CERT_FILE", file.c_str(), 1);
  }

  std::optional<CertificateAuthority> authority_;  ///< of servers with TLS
  std::optional<OwnDirectory> files_;
  std::optional<TestingServer> server_;
  std::optional<TestingCluster> cluster_;
  /// The servers, followers first.
  std::vector<const TestingServer*> members_;
};

}  // namespace

bool is_zookeeper(Kind kind) {
  return kind == Kind::zookeeper || kind == Kind::zookeeper_netty || kind == Kind::zookeeper_tls;
}

std::unique_ptr<Servers> start_zookeeper(Kind kind, Ensemble size) {
  return std::make_unique<ZooKeeper>(kind, size);
}

}  // namespace custodian::bench
