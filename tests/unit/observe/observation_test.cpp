#include "observe/observation.hpp"

#include <deque>
#include <stdexcept>

#include "custodian/authoring/observed_lock.hpp"
#include "support/catch.hpp"

namespace custodian::tests::observation_test {
namespace {

using detail::ObservedClient;
using namespace std::chrono_literals;

/// A client with the root `/app`, whose callbacks run when the test says so.
class Client final : public ObservedClient {
 public:
  [[nodiscard]] BootClock::time_point now() const noexcept override { return time; }
  [[nodiscard]] std::string user_path(std::string_view full_path) const override {
    return std::string{full_path.substr(std::string_view{"/app"}.size())};
  }
  void call_observer(std::function<void()> call) override { calls.push_back(std::move(call)); }
  void log(LogLevel, std::string message) override { lines.push_back(std::move(message)); }

  void run() {
    for (; !calls.empty(); calls.pop_front()) calls.front()();
  }

  BootClock::time_point time{1'000s};
  std::deque<std::function<void()>> calls;
  std::vector<std::string> lines;
};

/// An observer that records its events, and throws when the test says so.
class Note final : public Observer {
 public:
  void on_operation_retried(const OperationRetried& event) override {
    heard.push_back(std::string{event.operation} + " " + std::string{event.path});
    if (throws) throw std::runtime_error{"full"};
  }
  void on_lease_lost(const LeaseLost& event) override { held_for = event.held_for; }
  void on_connection_changed(const ConnectionChanged& event) override { away = event.away; }

  bool throws = false;
  std::vector<std::string> heard;
  std::chrono::nanoseconds held_for{};
  std::chrono::nanoseconds away{};
};

struct Observed {
  Client client;
  std::shared_ptr<Note> note = std::make_shared<Note>();
  detail::Observation observation{client, note};

  void retry(const Request& request) {
    observation.tell_retried(request, ServerErrc::connection_loss, 1, 0ms);
  }
};

TEST_CASE("an observer hears of nothing before user code runs") {
  Observed observed;
  observed.retry(request::Get{.path = "/app/node", .watcher = nullptr});
  CHECK(observed.note->heard.empty());
  observed.client.run();
  CHECK(observed.note->heard == std::vector<std::string>{"get /node"});
}

TEST_CASE("an observer hears of a commit without a path") {
  Observed observed;
  observed.retry(request::Multi{});
  observed.client.run();
  CHECK(observed.note->heard == std::vector<std::string>{"commit "});
}

TEST_CASE("an observer that throws is called again, and the log says so once") {
  Observed observed;
  observed.note->throws = true;
  observed.retry(request::Sync{.path = "/app/a"});
  observed.retry(request::Sync{.path = "/app/b"});
  observed.client.run();
  CHECK(observed.note->heard.size() == 2);
  REQUIRE(observed.client.lines.size() == 1);
  CHECK(observed.client.lines[0].find("full") != std::string::npos);
}

TEST_CASE("times of an event end with the event, and not with its call") {
  Observed observed;
  const auto lock = std::make_shared<const ObservedLock>(ObservedLock{"Mutex", "/lock"});
  const auto since = observed.client.time;
  observed.client.time += 3s;
  observed.observation.tell_lease_lost(lock, {}, LossReason::lease_expired, since);
  observed.client.time += 10s;
  observed.client.run();
  CHECK(observed.note->held_for == 3s);
}

TEST_CASE("an observer hears for how long there was no connection") {
  Observed observed;
  observed.client.time += 2s;
  observed.observation.tell_connection_changed(ConnectionState::connected);
  observed.client.run();
  CHECK(observed.note->away == 2s);
}

}  // namespace
}  // namespace custodian::tests::observation_test
