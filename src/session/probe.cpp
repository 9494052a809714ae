#include "session/probe.hpp"

#include <utility>

#include "session/zookeeper_session.hpp"

namespace custodian::detail {

std::shared_ptr<Probe> Probe::start(const boost::asio::any_io_executor& strand,
                                    SessionSettings settings, Listener listener) {
  const std::shared_ptr<Probe> probe{new Probe{std::move(listener)}};
  settings.credentials.clear();  // a probe sends no requests
  probe->session_ = std::make_shared<ZooKeeperSession>(
      strand, std::move(settings), probe->weak_from_this(), ZooKeeperSession::Role::probe);
  probe->session_->start();
  return probe;
}

void Probe::set_servers(const std::string& servers) { session_->set_servers(servers); }

void Probe::stop() {
  constexpr std::chrono::seconds grace{1};
  listener_ = nullptr;
  session_->close(grace, nullptr);
}

void Probe::on_state(SessionState state, const SessionInfo&) {
  if (state == SessionState::connecting || !listener_) return;
  const Listener listener = std::exchange(listener_, nullptr);
  listener(state == SessionState::connected ? Result::connected : Result::over);
}

}  // namespace custodian::detail
