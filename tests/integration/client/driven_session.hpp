#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "custodian/session/session.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

/// A session that runs only while the test waits for something.
class DrivenSession {
 public:
  /// Waits for the first connection. The observer calls `on_connected` when it is notified of that
  /// connection.
  explicit DrivenSession(
      const std::string& servers, std::function<void(DrivenSession&)> on_connected = [](auto&) {})
      : observer_{std::make_shared<Observer>()},
        session_{make_zookeeper_session(context_.get_executor(),
                                        {.servers = servers,
                                         .session_timeout = std::chrono::seconds{10},
                                         .connect_timeout = std::chrono::seconds{3}},
                                        observer_)} {
    observer_->on_connected = [this, on_connected = std::move(on_connected)] {
      on_connected(*this);
    };
    session_->start();
    REQUIRE(until([this] { return observer_->connections == 1; }));
  }
  ~DrivenSession() {
    bool closed = false;
    session_->close(std::chrono::seconds{1}, [&] { closed = true; });
    CHECK(until([&] { return closed; }));
  }
  DrivenSession(const DrivenSession&) = delete;
  DrivenSession& operator=(const DrivenSession&) = delete;

  /// Runs the session until the condition is true. Returns false if it does not become true in
  /// time.
  [[nodiscard]] bool until(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{30};
    while (!condition()) {
      if (std::chrono::steady_clock::now() >= deadline) return false;
      context_.restart();
      context_.run_one_for(std::chrono::milliseconds{100});
    }
    return true;
  }

  void submit(Request request, std::function<void(error_code)> done) {
    session_->submit(std::move(request),
                     [done = std::move(done)](const Reply& reply) { done(reply.error); });
  }
  void submit(Request request, std::vector<error_code>& errors) {
    submit(std::move(request), [&errors](error_code error) { errors.push_back(error); });
  }

  /// The newest state that the session has reported.
  [[nodiscard]] SessionState state() const { return observer_->state; }

 private:
  struct Observer : SessionObserver {
    void on_state(SessionState told, const SessionInfo&) override {
      state = told;
      if (told == SessionState::connected && ++connections == 1) on_connected();
    }
    void on_answer(const ReplyProof&) override {}
    void on_log(LogLevel, std::string) override {}

    std::function<void()> on_connected;
    SessionState state = SessionState::connecting;
    int connections = 0;
  };

  boost::asio::io_context context_{1};
  std::shared_ptr<Observer> observer_;
  std::shared_ptr<Session> session_;
};

}  // namespace custodian::tests
