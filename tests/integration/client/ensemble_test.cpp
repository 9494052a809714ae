// A client that follows an ensemble which is reconfigured while it runs.

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/reserved_port.hpp"
#include "support/test_client.hpp"
#include "wire/wire_session.hpp"

namespace custodian::tests::ensemble_test {
namespace {

using namespace std::chrono_literals;

constexpr const char* host = "127.0.0.1";

/// A member of an ensemble whose configuration names its port for clients.
class Member {
 public:
  explicit Member(unsigned number) : number_{number} {}

  /// The member as a configuration has it: "server.1=127.0.0.1:...".
  [[nodiscard]] std::string line() const {
    const auto text = [](const testing::ReservedPort& port) {
      return std::to_string(port.number());
    };
    return "server." + std::to_string(number_) + "=" + host + ":" + text(quorum_) + ":" +
           text(election_) + ":participant;" + address();
  }
  [[nodiscard]] std::string address() const {
    return std::string{host} + ":" + std::to_string(clients_.number());
  }
  void start(const std::vector<std::string>& members) {
    testing::TestingServerOptions options;
    options.tick_time = 250ms;
    options.ensemble_member = number_;
    options.port = clients_.number();
    options.config_lines = {"initLimit=20", "syncLimit=8", "standaloneEnabled=false",
                            "reconfigEnabled=true", "skipACL=yes"};
    options.config_lines.insert(options.config_lines.end(), members.begin(), members.end());
    server_ = std::make_unique<testing::TestingServer>(options);
  }
  void kill() { server_->kill(); }
  [[nodiscard]] testing::ServerEndpoint endpoint() const { return server_->endpoint(); }

 private:
  const unsigned number_;
  const testing::ReservedPort quorum_{host};
  const testing::ReservedPort election_{host};
  const testing::ReservedPort clients_{host};
  std::unique_ptr<testing::TestingServer> server_;
};

/// Reconfigures the ensemble through a member that serves, and asks again as long as the others are
/// not ready for it.
bool reconfigure(const Member& through, const std::string& joining, const std::string& leaving) {
  return eventually([&] {
    try {
      testing::WireSession session{through.endpoint(), 10s};
      const std::int32_t error = session.reconfigure(joining, leaving);
      session.close();
      return error == 0;
    } catch (const testing::TestingError&) {
      return false;
    }
  });
}

class Followed {
 public:
  [[nodiscard]] LogSink sink() {
    return [this](LogLevel, std::string_view line) {
      const auto servers = line.find("its servers are ");
      if (servers == std::string_view::npos) return;
      const std::lock_guard lock{mutex_};
      newest_ = line.substr(servers + 16);
    };
  }
  [[nodiscard]] bool are(const std::vector<std::string>& expected) const {
    const std::lock_guard lock{mutex_};
    return newest_.size() > 0 && std::ranges::count(newest_, ',') + 1 == std::ssize(expected) &&
           std::ranges::all_of(expected, [&](const std::string& each) {
             return newest_.find(each) != std::string::npos;
           });
  }

 private:
  mutable std::mutex mutex_;
  std::string newest_;
};

TEST_CASE("a client keeps its session while all the servers that it was given are replaced") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Member one{1};
  Member two{2};
  Member three{3};
  Member four{4};
  std::vector<std::string> members{one.line(), two.line(), three.line()};
  for (Member* each : {&one, &two, &three}) each->start(members);

  Followed followed;
  // These servers have no port for TLS.
  ClientOptions options = plain_options_for(one.address() + "/app");
  options.name_space = "team";
  options.session_timeout = 20s;
  options.touch_interval = 200ms;
  options.follow_ensemble = true;
  options.log = followed.sink();
  Client client{options};
  client.create("/held", "",
                {.mode = CreateMode::ephemeral, .parents = Parents::created_as_containers});
  const std::int64_t session = client.session().id;
  CHECK(eventually([&] { return followed.are({one.address(), two.address(), three.address()}); }));

  members.push_back(four.line());
  four.start(members);
  REQUIRE(reconfigure(one, four.line(), ""));
  CHECK(eventually([&] {
    return followed.are({one.address(), two.address(), three.address(), four.address()});
  }));

  REQUIRE(reconfigure(four, "", "1,2"));
  CHECK(eventually([&] { return followed.are({three.address(), four.address()}); }));
  one.kill();
  two.kill();
  CHECK(client.exists("/held"));
  CHECK(client.session().id == session);
  client.close();
}

}  // namespace
}  // namespace custodian::tests::ensemble_test
