// What a server has said before it ended the connection counts, also when a request could not be
// sent any more before it was read.

#include <atomic>
#include <thread>
#include <vector>

#include "integration/client/driven_session.hpp"
#include "integration/client/hostile_server.hpp"
#include "support/jute.hpp"
#include "support/results.hpp"

namespace custodian::tests::last_words_test {
namespace {

constexpr std::int32_t wants_authentication = -124;

/// Refuses the first request with the others unread, so that the kernel resets the connection.
class RefusingServer {
 public:
  [[nodiscard]] std::string connect_string() const { return server_.connect_string(); }
  [[nodiscard]] int connections() const { return server_.connections(); }

  /// There is something that stays unread.
  void let_end() { may_end_ = true; }
  [[nodiscard]] bool has_ended() const {
    return eventually([this] { return server_.connections_ended() == 1; });
  }

 private:
  [[nodiscard]] bool ends() const {
    return eventually([this] { return may_end_.load(); });
  }

  std::atomic<bool> may_end_{false};
  HostileServer server_{{.greeting = [] { return Greeting{}.frame(); },
                         .answer =
                             [](const SeenRequest& request) {
                               return Jute{}.header(request.xid, wants_authentication).frame();
                             },
                         .ends = [this](const SeenRequest&) { return ends(); }}};
};

TEST_CASE("requests behind one that was refused for lack of authentication say so, too") {
  RefusingServer server;
  std::vector<error_code> errors;
  const auto exists = [&](DrivenSession& session) {
    session.submit(request::Exists{"/", nullptr}, errors);
  };
  // Within the notice of the connection, so that the session has not looked at its socket since.
  DrivenSession session{server.connect_string(), [&](DrivenSession& connected) {
                          exists(connected);
                          exists(connected);
                          server.let_end();
                          CHECK(server.has_ended());
                          exists(connected);
                        }};
  CHECK(session.until([&] { return errors.size() == 3; }));
  CHECK(errors == std::vector<error_code>(3, ServerErrc::session_closed_require_sasl_auth));
  CHECK(session.until([&] { return session.state() == SessionState::auth_required; }));
  CHECK(server.connections() == 1);
}

}  // namespace
}  // namespace custodian::tests::last_words_test
