#pragma once

/// \file
/// Probe is a second session with the same servers, begun to find out whether they work. Strand
/// only.

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string>

#include "custodian/session/session.hpp"

namespace custodian::detail {

class ZooKeeperSession;

/// It has seen no transaction, so only servers that do not work refuse it: see ConnectionRecord.
class Probe final : public SessionObserver, public std::enable_shared_from_this<Probe> {
 public:
  enum class Result { connected, over };
  /// Called once: when the probe has a session, or can have none.
  using Listener = std::function<void(Result)>;

  [[nodiscard]] static std::shared_ptr<Probe> start(const boost::asio::any_io_executor& strand,
                                                    SessionSettings settings, Listener listener);
  void set_servers(const std::string& servers);
  /// Ends its session, in the background. The listener is not called any more.
  void stop();

  void on_state(SessionState state, const SessionInfo& info) override;
  void on_answer(const ReplyProof&) override {}
  /// The session that waits for the same servers writes to the log instead.
  void on_log(LogLevel, std::string) override {}

 private:
  explicit Probe(Listener listener) : listener_{std::move(listener)} {}

  Listener listener_;
  std::shared_ptr<ZooKeeperSession> session_;
};

}  // namespace custodian::detail
