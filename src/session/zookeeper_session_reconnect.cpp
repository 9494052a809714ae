/// \file
/// This file connects and reconnects a session. It carries out the decisions of Reconnect, with the
/// resolver, the connector, the C client's handle and the timer.

#include <algorithm>
#include <utility>

#include "base/connection_string.hpp"
#include "base/process_id.hpp"
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
  keep_unresolved(result);
  if (!result.addresses.empty()) {
    found = result.addresses == addresses_ ? Found::the_same : Found::others;
    addresses_ = std::move(result.addresses);
  }
  switch (reconnect_.looked_up(found)) {
    case AfterLookUp::nothing: break;
    case AfterLookUp::open_handle: open_handle(); break;
    case AfterLookUp::replace_addresses: replace_addresses(); break;
    case AfterLookUp::look_up_after_pause: look_names_up_after_pause(); break;
  }
}

/// A name that does not resolve just now keeps the addresses that it had.
void ZooKeeperSession::keep_unresolved(Resolver::Result& result) const {
  if (result.addresses.empty()) return;
  result.addresses = with_unresolved(std::move(result.addresses), addresses_, result.unresolved);
}

void ZooKeeperSession::open_handle() {
  order_.replace(addresses_);
  try {
    client_.emplace(settings_);
    presented_ = settings_.credentials;
  } catch (const Error& error) {
    // A machine without a loopback interface gives no handle, for example.
    log(LogLevel::error, error.what());
    return look_names_up_after_pause();
  }
  reconnect_.handle_opened();
  pump();
}

void ZooKeeperSession::replace_addresses() {
  order_.replace(addresses_);
  if (!order_.contains(dialled_.endpoint)) {
    connector_.cancel();
    disconnect();
  }
  schedule_pump();
}

// -- Connections ----------------------------------------------------------------------------------

void ZooKeeperSession::dial() {
  // The earlier connection is shut down, because a child that has a copy of its socket would keep
  // it open.
  descriptor_.shut_down();
  descriptor_.release();
  if (connector_.busy()) return;
  const auto now = steady_clock::now();
  std::optional<Address> next = order_.next(now);
  if (!next) {
    reconnect_.rest();
    return wake_after(order_.rest(now));
  }
  dialled_ = std::move(*next);
  reconnect_.attempted(now);
  record_.attempted(to_text(dialled_.endpoint), now);
  std::vector<Address> addresses{dialled_};
  if (auto other = order_.other_family(dialled_, now)) addresses.push_back(std::move(*other));
  connector_.connect(std::move(addresses), settings_.connect_timeout,
                     [weak = weak_from_this()](Dialled dialled) {
                       if (const auto self = weak.lock()) self->on_dialled(std::move(dialled));
                     });
}

void ZooKeeperSession::on_dialled(Dialled dialled) {
  link_ = std::move(dialled.link);
  if (!client_ || reconnect_.closing() || process_id() != process_) return drop_link();
  take_note_of(dialled);
  if (!dialled.error && !order_.contains(dialled_.endpoint)) {
    dialled.error = boost::asio::error::operation_aborted;
    dialled.reason = "the list of servers has changed";
  }
  const std::string server = to_text(dialled_.endpoint);
  if (!dialled.error) {
    // The time is read before hand_over(), which sends the handshake. The answer has a connect
    // timeout of its own.
    handshake_ = now_by(settings_.clock);
    reconnect_.attempted(steady_clock::now());
    dialled.error = client_->hand_over(dialled.socket.get(), server);
    dialled.reason = dialled.error.message();
  }
  if (link_) {
    link_->set_judge([weak = weak_from_this()](std::string_view frame) {
      const auto self = weak.lock();
      return !self || !self->client_ || self->client_->accepts_ahead(frame);
    });
  }
  if (dialled.error) {
    drop_link();
    log(dialled.accepted ? damped_once_accepted() : damped(LogLevel::warning, loudest_dialled_),
        "could not connect to " + server + ": " + dialled.reason);
    on_attempt_failed();
  }
  pump();
}

void ZooKeeperSession::take_note_of(const Dialled& dialled) {
  if (dialled.others.empty()) return;
  const auto now = steady_clock::now();
  for (const Address& other : dialled.others) {
    order_.also_dialled(other.endpoint);
    order_.failed(other.endpoint, now, std::uniform_real_distribution{}(random_));
  }
  dialled_ = dialled.address;
  order_.also_dialled(dialled_.endpoint);
  record_.attempted(to_text(dialled_.endpoint), now);
}

void ZooKeeperSession::drop_link() {
  const auto link = std::exchange(link_, nullptr);
  if (!link || process_id() != process_) return;
  // A link may have a fault although it was opened: with TLS 1.3 a server refuses a certificate
  // only after TLS's handshake.
  if (!link->fault().empty()) {
    log(damped_once_accepted(),
        "the connection to " + to_text(dialled_.endpoint) + " has ended: " + link->fault());
  }
  link->abort();
}

void ZooKeeperSession::on_attempt_failed() {
  order_.failed(dialled_.endpoint, steady_clock::now(), std::uniform_real_distribution{}(random_));
  look_names_up_again();
}

void ZooKeeperSession::give_attempt_up() {
  const std::string beginning = "could not connect to " + to_text(dialled_.endpoint) + ": ";
  if (const std::string step = link_ ? link_->waits_for() : ""; !step.empty()) {
    log(damped_once_accepted(), beginning + step + ": no answer in time");
  } else {
    log(damped(LogLevel::warning, loudest_dialled_),
        beginning + "the server accepts connections, but does not answer in time");
    // The C client's line about this end says less.
    loudest_ = std::max(loudest_, LogLevel::warning);
  }
  cut_off();
}

bool ZooKeeperSession::is_refused_by_all() const {
  return reconnect_.serving() && record_.lacks_authentication(addresses(), steady_clock::now());
}

void ZooKeeperSession::on_unproven(SecureLink::Proof proof) {
  using Proof = SecureLink::Proof;
  if (proof == Proof::none_needed) return;
  const auto now = steady_clock::now();
  if (proof == Proof::refused) record_.identity_refused(to_text(dialled_.endpoint), now);
  if (info_.id != 0) {
    record_.continued_unauthenticated(now);
  } else if (proof != Proof::wanted) {
    // Each attempt leaves a new session at the servers, until its timeout, so there must not be
    // many attempts.
    order_.rest_until(dialled_.endpoint, now + ReconnectPace::refused_credentials);
  }
  if (!reconnect_.serving()) return;
  if (record_.is_identity_refused(addresses(), now)) {
    return on_session_over(SessionState::identity_refused);
  }
  if (info_.id != 0 && record_.is_never_authenticated(now)) {
    give_up(
        "the servers continue it, but SASL never gets to its end, for the reasons above. What the "
        "session held is lost");
  }
}

void ZooKeeperSession::log_unanswered() {
  log(damped(LogLevel::warning, loudest_dialled_),
      "the server at " + to_text(dialled_.endpoint) +
          " ended the connection before any answer: it does not serve now" +
          (settings_.tls ? "" : ", or expects TLS"));
}

void ZooKeeperSession::on_interest_failed() {
  if (client_->has_connection()) {
    // A ping could not be sent, and the C client still takes the connection for a good one. The
    // shutdown makes it notice.
    cut_off();
    client_->process(true, false);
  }
  schedule_pump();
}

void ZooKeeperSession::disconnect() {
  if (process_id() != process_) return;
  reconnect_.on_cut_off();
  cut_off();
}

void ZooKeeperSession::cut_off() {
  descriptor_.shut_down();
  if (link_) link_->abort();
}

void ZooKeeperSession::on_connected() {
  reconnect_.on_connected();
  record_.connected(steady_clock::now(), client_->session().timeout);
  // The C client restores the watches with a request of its own, which the server answers.
  if (watches_.armed_bytes() > 0) record_.asked();
  stop_probe();
  loudest_ = loudest_dialled_ = loudest_secured_ = LogLevel::debug;
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
  // An address whose server ends connections before any answer, or for lack of authentication,
  // rests as after a failed attempt.
  if (!record_.was_answered() || record_.is_unauthenticated()) on_attempt_failed();
  record_.disconnected(steady_clock::now(), reconnect_.was_cut_off() ? EndedBy::us : EndedBy::peer);
  notify_state();
  if (is_refused_by_all()) {
    return on_session_over(SessionState::auth_required);
  }
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
