#pragma once

/// \file
/// Sessions that record the credentials and servers that they are given.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "custodian/session/session.hpp"
#include "scripted/passing_session.hpp"

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

/// A session that records its credentials and servers. It passes all calls on but those with
/// credentials.
class NotedSession final : public PassingSession {
 public:
  NotedSession(std::shared_ptr<Session> session, std::shared_ptr<Given> given)
      : PassingSession{std::move(session)}, given_{std::move(given)} {}

  void set_servers(std::string servers) override {
    given_->servers.push_back(servers);
    PassingSession::set_servers(std::move(servers));
  }
  void set_credentials(Given::Credentials credentials) override {
    given_->later.push_back(std::move(credentials));
  }

 private:
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
