// The replies that a server has sent before it ends a connection count, even if the client fails to
// send a request before it has read them.

#include <atomic>
#include <thread>
#include <vector>

#include "integration/client/driven_session.hpp"
#include "integration/client/hostile_server.hpp"
#include "support/jute.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::last_words_test {
namespace {

constexpr std::int32_t wants_authentication = -124;

/// A server that answers a number of requests, and refuses the next one while others are unread, so
/// that the kernel resets the connection.
class RefusingServer {
 public:
  explicit RefusingServer(int answered)
      : server_{{.greeting = [] { return Greeting{}.frame(); },
                 .answer =
                     [this, answered](const SeenRequest& request) {
                       if (++requests_ <= answered)
                         return Jute{}.header(request.xid).stat().frame();
                       return Jute{}.header(request.xid, wants_authentication).frame();
                     },
                 .ends =
                     [this, answered](const SeenRequest&) {
                       return requests_ > answered &&
                              eventually([this] { return may_end_.load(); });
                     }}} {}

  [[nodiscard]] std::string connect_string() const { return server_.connect_string(); }
  [[nodiscard]] int connections() const { return server_.connections(); }

  /// Ends the first connection. The client must have sent two requests after those that were
  /// answered.
  void end() {
    may_end_ = true;
    CHECK(eventually([this] { return server_.connections_ended() == 1; }));
  }

 private:
  std::atomic<int> requests_{0};
  std::atomic<bool> may_end_{false};
  HostileServer server_;
};

/// Sends three requests, of which the last one finds the connection at its end.
class ThreeRequests {
 public:
  explicit ThreeRequests(RefusingServer& server) : server_{server} {}

  /// To be called within a callback of the session, which does not look at its socket meanwhile.
  void send(DrivenSession& session) {
    const auto exists = [&] { session.submit(request::Exists{"/", nullptr}, errors); };
    exists();
    exists();
    server_.end();
    exists();
  }

  std::vector<error_code> errors;

 private:
  RefusingServer& server_;
};

TEST_CASE("requests behind one that was refused for lack of authentication say so, too") {
  RefusingServer server{0};
  ThreeRequests requests{server};
  DrivenSession session{server.connect_string(),
                        [&](DrivenSession& connected) { requests.send(connected); }};
  CHECK(session.until([&] { return requests.errors.size() == 3; }));
  CHECK(requests.errors ==
        std::vector<error_code>(3, ServerErrc::session_closed_require_sasl_auth));
  CHECK(session.until([&] { return session.state() == SessionState::auth_required; }));
  CHECK(server.connections() == 1);
}

TEST_CASE("what is left unread behind an answer explains nothing") {
  RefusingServer server{1};
  ThreeRequests requests{server};
  error_code first = Errc::closed;
  DrivenSession session{server.connect_string(), [&](DrivenSession& connected) {
                          connected.submit(request::Exists{"/", nullptr}, [&](error_code error) {
                            first = error;
                            requests.send(connected);
                          });
                        }};
  CHECK(session.until([&] { return requests.errors.size() == 3; }));
  CHECK(first == error_code{});
  CHECK(requests.errors == std::vector<error_code>(3, ServerErrc::connection_loss));
  CHECK(session.until([&] { return server.connections() == 2; }));
}

}  // namespace
}  // namespace custodian::tests::last_words_test
