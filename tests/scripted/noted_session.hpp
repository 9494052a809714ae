#pragma once

/// \file
/// Sessions that record the credentials and servers that they are given.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "custodian/session/session.hpp"

namespace custodian::tests {

/// The credentials and servers with which a client's sessions began, and those that were given
/// later.
struct Given {
  using Credentials = std::vector<SessionSettings::Credential>;

  std::vector<Credentials> at_first;
  std::vector<Credentials> later;
  std::vector<std::string> servers;         ///< those at the start, and those given later
  std::weak_ptr<SessionObserver> observer;  ///< that of the newest session
  std::weak_ptr<Session> session;           ///< the newest session
};

/// A session that records its credentials and servers, and passes everything but the credentials
/// on.
class NotedSession final : public Session {
 public:
  NotedSession(std::shared_ptr<Session> session, std::shared_ptr<Given> given)
      : session_{std::move(session)}, given_{std::move(given)} {}

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
  void set_servers(std::string servers) override {
    given_->servers.push_back(servers);
    session_->set_servers(std::move(servers));
  }
  void set_credentials(Given::Credentials credentials) override {
    given_->later.push_back(std::move(credentials));
  }
  [[nodiscard]] Load load() const override { return session_->load(); }

 private:
  const std::shared_ptr<Session> session_;
  const std::shared_ptr<Given> given_;
};

/// A factory of such sessions, over another factory.
[[nodiscard]] inline SessionFactory noting(SessionFactory make, std::shared_ptr<Given> given) {
  return [make = std::move(make), given = std::move(given)](
             auto strand, SessionSettings settings, auto observer) -> std::shared_ptr<Session> {
    given->at_first.push_back(settings.credentials);
    given->servers.push_back(settings.servers);
    given->observer = observer;
    auto session =
        std::make_shared<NotedSession>(make(strand, std::move(settings), observer), given);
    given->session = session;
    return session;
  };
}

}  // namespace custodian::tests
