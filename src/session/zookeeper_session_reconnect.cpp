/// \file
/// Connects and reconnects a session. Reconnect decides; its decisions are carried out here on the
/// resolver, the C client's handle, and the timer.

#include <utility>

#include "base/connection_string.hpp"
#include "session/credential_trial.hpp"
#include "session/probe.hpp"
#include "session/zookeeper_session.hpp"

namespace custodian::detail {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// -- Names and addresses --------------------------------------------------------------------------

void ZooKeeperSession::start() { look_names_up(); }

void ZooKeeperSession::set_servers(std::string servers) {
  settings_.servers = std::move(servers);
  hosts_ = parse_connection_string("set_servers", settings_.servers).hosts;
  if (probe_) probe_->set_servers(settings_.servers);
  if (trial_) trial_->set_servers(settings_.servers);
  if (!reconnect_.over()) look_names_up();
}

void ZooKeeperSession::look_names_up() {
  resolver_.resolve(hosts_, [weak = weak_from_this()](Resolver::Result result) {
    if (const auto self = weak.lock()) self->on_looked_up(std::move(result));
  });
}

void ZooKeeperSession::look_names_up_again() {
  // Addresses change, in a container cluster for example.
  if (!resolver_.busy()) look_names_up();
}

void ZooKeeperSession::look_names_up_after_pause() {
  stop_timer();
  timer_.expires_after(ReconnectPace::without_address);
  timer_.async_wait([self = shared_from_this()](error_code error) {
    if (!error) self->look_names_up();
  });
}

void ZooKeeperSession::on_looked_up(Resolver::Result result) {
  if (!reconnect_.wants_addresses()) return;
  if (!result.failures.empty()) {
    log(LogLevel::warning, "could not resolve " + result.failures);
  }
  using Found = Reconnect::Found;
  using AfterLookUp = Reconnect::AfterLookUp;
  auto found = Found::no_address;
  if (!result.addresses.empty()) {
    found = result.addresses == addresses_ ? Found::the_same : Found::others;
  }
  switch (reconnect_.looked_up(found)) {
    case AfterLookUp::nothing: break;
    case AfterLookUp::open_handle: open_handle(result.addresses); break;
    case AfterLookUp::replace_addresses: replace_addresses(result.addresses); break;
    case AfterLookUp::look_up_after_pause: look_names_up_after_pause(); break;
  }
}

void ZooKeeperSession::open_handle(const std::string& addresses) {
  addresses_ = addresses;
  try {
    client_.emplace(addresses_, settings_);
    presented_ = settings_.credentials;
  } catch (const Error& error) {
    // For example, no address is of a family that this machine has.
    log(LogLevel::error, error.what());
    return look_names_up_after_pause();
  }
  reconnect_.handle_opened();
  pump();
}

void ZooKeeperSession::replace_addresses(const std::string& addresses) {
  addresses_ = addresses;
  client_->set_servers(addresses_);
  schedule_pump();
}

// -- Connections ----------------------------------------------------------------------------------

void ZooKeeperSession::back_off() {
  if (client_->state() == HandleState::connected) {
    // A ping could not be sent, and the library still takes the connection for a good one. The
    // shutdown, and a read, make it notice.
    descriptor_.shut_down();
    client_->process(true, false);
  }
  // No server could be reached just now, and the library asks for no pause of its own.
  descriptor_.release();
  wake_after(reconnect_.unreachable(std::uniform_real_distribution{}(random_)));
  look_names_up_again();
}

void ZooKeeperSession::disconnect() {
  reconnect_.on_cut_off();
  descriptor_.shut_down();
}

void ZooKeeperSession::on_connected() {
  reconnect_.on_connected();
  record_.connected(steady_clock::now(), client_->session().timeout);
  // The library restores the watches by itself, with a request.
  if (watches_.armed_bytes() > 0) record_.asked();
  stop_probe();
  loudest_ = LogLevel::debug;
  const std::uint64_t connection = info_.connection + 1;
  const std::int64_t previous = info_.id;
  info_ = client_->session();
  info_.connection = connection;
  info_.handshake = handshake_;
  if (info_.id != previous) log_shortened_timeout();
  notify_state();
  schedule_pump();
}

void ZooKeeperSession::log_shortened_timeout() {
  if (info_.timeout >= settings_.session_timeout) return;
  log(LogLevel::warning, "the server shortened the session timeout from " +
                             std::to_string(settings_.session_timeout.count()) + " ms to " +
                             std::to_string(info_.timeout.count()) + " ms (its maxSessionTimeout)");
}

void ZooKeeperSession::on_disconnected() {
  using EndedBy = ConnectionRecord::EndedBy;
  record_.disconnected(steady_clock::now(), reconnect_.was_cut_off() ? EndedBy::us : EndedBy::peer);
  notify_state();
  if (reconnect_.serving()) drop_excess_watches();
  if (reconnect_.serving() && record_.never_answers(steady_clock::now())) {
    return give_up(
        "connections end before any request on them is answered, though no watch was restored on "
        "them; do the servers accept requests as long as this client sends? "
        "(ClientOptions::max_request_size is " +
        std::to_string(settings_.max_request_size) + "; theirs is jute.maxbuffer)");
  }
  look_names_up_again();
}

}  // namespace custodian::detail
