// An observer's events of a client's requests and connection, and the names of outcomes.

#include <string>
#include <vector>

#include "custodian/observer.hpp"
#include "observe/observation.hpp"
#include "support/catch.hpp"

namespace custodian::tests::observed_requests_test {
namespace {

using namespace std::chrono_literals;

/// A client with the root `/app`, whose callbacks run at once.
class Client final : public detail::ObservedClient {
 public:
  [[nodiscard]] BootClock::time_point now() const noexcept override { return time; }
  [[nodiscard]] std::string user_path(std::string_view full_path) const override {
    return std::string{full_path.substr(std::string_view{"/app"}.size())};
  }
  void call_observer(std::function<void()> call) override { call(); }
  void log(LogLevel level, std::string message) override {
    CHECK(level == LogLevel::error);
    lines.push_back(std::move(message));
  }

  BootClock::time_point time{1'000s};
  std::vector<std::string> lines;
};

class Note final : public Observer {
 public:
  void on_operation_retried(const OperationRetried& event) override {
    CHECK(event.error == ServerErrc::throttled);
    CHECK(event.attempts == 3);
    CHECK(event.pause == 20ms);
    heard.push_back(std::string{event.operation} + " " + std::string{event.path});
    if (throws) throw 1;
  }
  void on_connection_changed(const ConnectionChanged& event) override {
    states.emplace_back(event.state, event.away);
  }

  bool throws = false;
  std::vector<std::string> heard;
  std::vector<std::pair<ConnectionState, std::chrono::nanoseconds>> states;
};

struct Observed {
  Client client;
  std::shared_ptr<Note> note = std::make_shared<Note>();
  detail::Observation observation{client, note};
};

TEST_CASE("an observer hears which request was sent again, by the name of its function") {
  Observed observed;
  const std::string path = "/app/a";
  for (const Request& request : std::vector<Request>{
           request::Create{.path = path}, request::Remove{path}, request::Exists{path, nullptr},
           request::Get{path, nullptr}, request::Set{path}, request::GetChildren{path, nullptr},
           request::GetAcl{path}, request::SetAcl{path}, request::Sync{path}, request::Multi{}}) {
    observed.observation.tell_retried(request, ServerErrc::throttled, 3, 20ms);
  }
  CHECK(observed.note->heard ==
        std::vector<std::string>{"create /a", "remove /a", "exists /a", "get /a", "set /a",
                                 "children /a", "get_acl /a", "set_acl /a", "sync /a", "commit "});
}

TEST_CASE("an exception of an observer that is no std::exception is logged once, too") {
  Observed observed;
  observed.note->throws = true;
  for (int i = 0; i < 2; ++i) {
    observed.observation.tell_retried("get", "/app/a", ServerErrc::throttled, 3, 20ms);
  }
  CHECK(observed.note->heard.size() == 2);
  CHECK(observed.client.lines ==
        std::vector<std::string>{"the observer has thrown: something that is no std::exception; "
                                 "this is said once"});
}

TEST_CASE("an observer hears of each state of the connection, and of the time without one") {
  Observed observed;
  for (const ConnectionState state : {ConnectionState::connected, ConnectionState::suspended,
                                      ConnectionState::lost, ConnectionState::connected}) {
    observed.client.time += 1s;
    observed.observation.tell_connection_changed(state);
  }
  CHECK(observed.note->states == std::vector<std::pair<ConnectionState, std::chrono::nanoseconds>>{
                                     {ConnectionState::connected, 1s},
                                     {ConnectionState::suspended, 0s},
                                     {ConnectionState::lost, 1s},
                                     {ConnectionState::connected, 2s}});
}

TEST_CASE("each outcome has its name, as the labels of metrics have it") {
  CHECK(to_string(AcquireOutcome::acquired) == "acquired");
  CHECK(to_string(AcquireOutcome::late) == "late");
  CHECK(to_string(AcquireOutcome::declined) == "declined");
  CHECK(to_string(AcquireOutcome::cancelled) == "cancelled");
  CHECK(to_string(AcquireOutcome::failed) == "failed");
  CHECK(to_string(WaitOutcome::passed) == "passed");
  CHECK(to_string(WaitOutcome::late) == "late");
  CHECK(to_string(WaitOutcome::spurious) == "spurious");
  CHECK(to_string(WaitOutcome::cancelled) == "cancelled");
  CHECK(to_string(WaitOutcome::failed) == "failed");
  CHECK(to_string(KeptLockEnd::wanted) == "wanted");
  CHECK(to_string(KeptLockEnd::own_contender) == "own_contender");
  CHECK(to_string(KeptLockEnd::unused) == "unused");
  CHECK(to_string(KeptLockEnd::aged) == "aged");
  CHECK(to_string(KeptLockEnd::crowded) == "crowded");
  CHECK(to_string(KeptLockEnd::unusable) == "unusable");
  CHECK(to_string(KeptLockEnd::closed) == "closed");
}

}  // namespace
}  // namespace custodian::tests::observed_requests_test
