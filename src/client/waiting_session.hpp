#pragma once

/// \file
/// WaitingSession stands for a session that has not begun, because the credentials with which it
/// begins are not known yet: it never has a connection. Used on the strand only.

#include <boost/asio/any_io_executor.hpp>

#include "custodian/session/session.hpp"

namespace custodian::detail {

class WaitingSession final : public Session {
 public:
  explicit WaitingSession(boost::asio::any_io_executor strand);

  void start() override {}
  void submit(Request request, ReplyHandler handler) override;
  void unwatch(const std::shared_ptr<Watcher>&) override {}
  void close(std::chrono::milliseconds grace, std::function<void()> done) override;
  void retire() override {}
  void disconnect() override {}
  void set_servers(std::string) override {}
  void set_credentials(std::vector<SessionSettings::Credential>) override {}
  [[nodiscard]] Load load() const override { return {}; }

 private:
  const boost::asio::any_io_executor strand_;
};

}  // namespace custodian::detail
