// A request that could not be sent has failed, and so no later connection may send it.

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "integration/client/driven_session.hpp"
#include "integration/client/hostile_server.hpp"
#include "support/jute.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::leftovers_test {
namespace {

/// A server that reads one request of the first connection, and ends that connection while other
/// requests are unread, so that the kernel resets it. On later connections the server answers every
/// request.
class ResettingServer {
 public:
  [[nodiscard]] std::string connect_string() const { return server_.connect_string(); }
  [[nodiscard]] int connections() const { return server_.connections(); }

  /// Ends the first connection, on which the client must have sent two requests.
  void end() {
    may_end_ = true;
    CHECK(eventually([this] { return server_.connections_ended() == 1; }));
  }

  /// The bodies of the requests that came on later connections.
  [[nodiscard]] std::vector<std::string> seen_later() const {
    const std::lock_guard lock{mutex_};
    return seen_later_;
  }

 private:
  std::string answer(const SeenRequest& request) {
    if (server_.connections() == 1) return {};
    const std::lock_guard lock{mutex_};
    seen_later_.push_back(request.body);
    return Jute{}.header(request.xid).stat().frame();
  }

  std::atomic<bool> may_end_{false};
  mutable std::mutex mutex_;
  std::vector<std::string> seen_later_;
  HostileServer server_{{.greeting = [] { return Greeting{}.frame(); },
                         .answer = [this](const SeenRequest& request) { return answer(request); },
                         .ends =
                             [this](const SeenRequest&) {
                               return server_.connections() == 1 &&
                                      eventually([this] { return may_end_.load(); });
                             }}};
};

TEST_CASE("what could not be sent on a connection that was reset is not sent on the next one") {
  ResettingServer server;
  std::vector<error_code> errors;
  DrivenSession session{server.connect_string(), [&](DrivenSession& connected) {
                          // The session does not look at its socket during this callback.
                          connected.submit(request::Exists{"/sent", nullptr}, errors);
                          connected.submit(request::Exists{"/unread", nullptr}, errors);
                          server.end();
                          connected.submit(request::Exists{"/unsent", nullptr}, errors);
                        }};
  CHECK(session.until([&] { return errors.size() == 3; }));
  CHECK(errors == std::vector<error_code>(3, ServerErrc::connection_loss));

  CHECK(session.until(
      [&] { return server.connections() == 2 && session.state() == SessionState::connected; }));
  bool is_answered = false;
  session.submit(request::Exists{"/later", nullptr}, [&](error_code error) {
    CHECK_FALSE(error);
    is_answered = true;
  });
  CHECK(session.until([&] { return is_answered; }));
  const std::vector<std::string> seen = server.seen_later();
  REQUIRE(seen.size() == 1);
  CHECK(seen.front().find("/later") != std::string::npos);
}

}  // namespace
}  // namespace custodian::tests::leftovers_test
