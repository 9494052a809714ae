#pragma once

/// \file
/// PassingSession passes all calls on to another session; tests override the functions that they
/// observe.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "custodian/session/session.hpp"

namespace custodian::tests {

/// A session that passes all calls on to another session.
class PassingSession : public Session {
 public:
  explicit PassingSession(std::shared_ptr<Session> session) : session_{std::move(session)} {}

  void start() override { session_->start(); }
  void submit(Request request, ReplyHandler handler) override {
    session_->submit(std::move(request), std::move(handler));
  }
  void unwatch(const std::shared_ptr<Watcher>& watcher) override { session_->unwatch(watcher); }
  void close(std::chrono::milliseconds grace, std::function<void()> done) override {
    session_->close(grace, std::move(done));
  }
  void retire() override { session_->retire(); }
  void disconnect() override { session_->disconnect(); }
  void set_servers(std::string servers) override { session_->set_servers(std::move(servers)); }
  void set_credentials(std::vector<SessionSettings::Credential> credentials) override {
    session_->set_credentials(std::move(credentials));
  }
  [[nodiscard]] Load load() const override { return session_->load(); }

 private:
  const std::shared_ptr<Session> session_;
};

}  // namespace custodian::tests
