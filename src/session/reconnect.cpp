#include "session/reconnect.hpp"

#include <algorithm>
#include <utility>

namespace custodian::detail {

// -- State ----------------------------------------------------------------------------------------

SessionState Reconnect::state() const noexcept {
  if (over()) return end_;
  return connected() ? SessionState::connected : SessionState::connecting;
}

error_code Reconnect::refusal() const {
  if (closing() || state() == SessionState::closed) return Errc::closed;
  if (!serving() || !connected()) return Errc::not_connected;
  return {};
}

// -- Addresses ------------------------------------------------------------------------------------

Reconnect::AfterLookUp Reconnect::looked_up(Found found) const noexcept {
  const bool no_handle = link_ == Link::resolving;
  if (!wants_addresses()) return AfterLookUp::nothing;
  if (found == Found::no_address) {
    // A handle goes on with the addresses that it has.
    return no_handle ? AfterLookUp::look_up_after_pause : AfterLookUp::nothing;
  }
  if (no_handle) return AfterLookUp::open_handle;
  return found == Found::others ? AfterLookUp::replace_addresses : AfterLookUp::nothing;
}

void Reconnect::attempted(Time now) noexcept {
  attempted_at_ = now;
  cut_off_ = false;
  // A standing connection counts as lost only when look() finds it so.
  if (!connected()) link_ = Link::connecting;
}

Reconnect::Wait Reconnect::wait(Time now, Pause asked, Socket socket) noexcept {
  if (socket == Socket::unwatched) return {std::min(asked, ReconnectPace::unwatched_socket)};
  if (socket == Socket::none || connected()) return {asked};
  // A silent address is cut off here, because the C client would wait for two thirds of the session
  // timeout.
  const auto waited = std::chrono::duration_cast<Pause>(now - attempted_at_);
  if (waited < connect_timeout_) return {std::min(asked, connect_timeout_ - waited)};
  cut_off_ = true;
  return {asked, true};
}

// -- The connection -------------------------------------------------------------------------------

namespace {

bool without_connection(HandleState state) {
  return state == HandleState::disconnected || state == HandleState::connecting;
}

std::optional<SessionState> end_of(HandleState state) {
  if (state == HandleState::expired) return SessionState::expired;
  if (state == HandleState::auth_failed) return SessionState::auth_failed;
  return std::nullopt;
}

}  // namespace

Reconnect::Sight Reconnect::look(HandleState now) noexcept {
  const HandleState before = std::exchange(handle_, now);
  const bool failed = before == HandleState::greeting && without_connection(now);
  const Sight sight{.failed = failed,
                    .refused = failed && !cut_off_,
                    .lost = connected() && now != HandleState::connected,
                    .connected = !connected() && now == HandleState::connected,
                    .ended = end_of(now)};
  if (sight.lost) link_ = Link::connecting;
  return sight;
}

void Reconnect::on_connected() noexcept { link_ = Link::connected; }

// -- The session ----------------------------------------------------------------------------------

bool Reconnect::retire() noexcept {
  if (!serving()) return false;
  purpose_ = Purpose::retired;
  return true;
}

Reconnect::AfterClose Reconnect::close() noexcept {
  if (over()) return AfterClose::nothing;
  if (closing()) return AfterClose::wait_for_the_first;
  purpose_ = Purpose::closing;
  return AfterClose::begin_closing;
}

bool Reconnect::on_end(SessionState how) noexcept {
  if (over() || (closing() && how != SessionState::closed)) return false;
  purpose_ = Purpose::over;
  end_ = how;
  return true;
}

NextSession next_session(SessionState end, CredentialRecord credentials) noexcept {
  if (end == SessionState::expired) return NextSession::at_once;
  // SASL's identity was refused, so earlier credentials would not help.
  if (end == SessionState::identity_refused) return NextSession::after_refused_credentials;
  if (end != SessionState::auth_failed && end != SessionState::auth_required) {
    return NextSession::none;
  }
  return credentials == CredentialRecord::unproven ? NextSession::with_proven_credentials
                                                   : NextSession::after_refused_credentials;
}

}  // namespace custodian::detail
