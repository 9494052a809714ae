#include "session/reconnect.hpp"

#include "support/catch.hpp"

namespace custodian::tests::reconnect_test {
namespace {

using detail::CredentialRecord;
using detail::HandleState;
using detail::Link;
using detail::next_session;
using detail::NextSession;
using detail::Purpose;
using detail::Reconnect;
using detail::ReconnectPace;
using AfterClose = Reconnect::AfterClose;
using AfterLookUp = Reconnect::AfterLookUp;
using Found = Reconnect::Found;
using Socket = Reconnect::Socket;
using namespace std::chrono_literals;

constexpr auto connect_timeout = 3s;
constexpr Reconnect::Time start{1'000s};

/// A session that has been trying an address since `start`.
Reconnect connecting() {
  Reconnect session{connect_timeout};
  session.handle_opened();
  session.attempted(start);
  return session;
}

void connect(Reconnect& session) {
  CHECK(session.look(HandleState::connected).connected);
  session.on_connected();
}

Reconnect connected() {
  Reconnect session = connecting();
  connect(session);
  return session;
}

// -- Addresses ------------------------------------------------------------------------------------

TEST_CASE("a session begins by looking names up") {
  const Reconnect session{connect_timeout};
  CHECK(session.link() == Link::resolving);
  CHECK(session.purpose() == Purpose::serving);
  CHECK(session.state() == SessionState::connecting);
}

TEST_CASE("the first addresses open a handle, which connects") {
  Reconnect session{connect_timeout};
  CHECK(session.looked_up(Found::others) == AfterLookUp::open_handle);
  session.handle_opened();
  CHECK(session.link() == Link::connecting);
}

TEST_CASE("without an address names are looked up again after a pause") {
  const Reconnect session{connect_timeout};
  CHECK(session.looked_up(Found::no_address) == AfterLookUp::look_up_after_pause);
  CHECK(session.link() == Link::resolving);
}

TEST_CASE("addresses that could not open a handle are tried again though they are the same") {
  const Reconnect session{connect_timeout};
  CHECK(session.looked_up(Found::others) == AfterLookUp::open_handle);
  CHECK(session.looked_up(Found::the_same) == AfterLookUp::open_handle);
}

TEST_CASE("a handle is given other addresses, keeps the same, and keeps its own if none is found") {
  const Reconnect session = GENERATE(connecting(), connected());
  CHECK(session.looked_up(Found::others) == AfterLookUp::replace_addresses);
  CHECK(session.looked_up(Found::the_same) == AfterLookUp::nothing);
  CHECK(session.looked_up(Found::no_address) == AfterLookUp::nothing);
}

TEST_CASE("addresses are of no use to a session that is closing or over") {
  Reconnect session{connect_timeout};
  CHECK(session.close() == AfterClose::begin_closing);
  CHECK_FALSE(session.wants_addresses());
  CHECK(session.looked_up(Found::others) == AfterLookUp::nothing);
  CHECK(session.on_end(SessionState::closed));
  CHECK_FALSE(session.wants_addresses());
  CHECK(session.looked_up(Found::no_address) == AfterLookUp::nothing);
}

// -- The pace -------------------------------------------------------------------------------------

TEST_CASE("a session backs off while all addresses rest, until one is dialled") {
  Reconnect session = connecting();
  session.rest();
  CHECK(session.link() == Link::backing_off);
  CHECK(session.state() == SessionState::connecting);
  session.attempted(start + 1s);
  CHECK(session.link() == Link::connecting);
}

TEST_CASE("without a socket the wait is the handle's") {
  Reconnect session = connecting();
  CHECK(session.wait(start + 1h, 700ms, Socket::none).pause == 700ms);
  CHECK_FALSE(session.wait(start + 1h, 700ms, Socket::none).cut_off);
}

TEST_CASE("a socket that cannot be waited for is looked at every 100 ms at least") {
  Reconnect session = GENERATE(connecting(), connected());
  CHECK(session.wait(start + 1h, 700ms, Socket::unwatched).pause == 100ms);
  CHECK(session.wait(start + 1h, 70ms, Socket::unwatched).pause == 70ms);
  CHECK_FALSE(session.was_cut_off());
}

TEST_CASE("an address has a connect timeout from its attempt on, and is cut off then") {
  Reconnect session = connecting();
  CHECK(session.wait(start, 10s, Socket::watched).pause == connect_timeout);
  CHECK(session.wait(start + 1s, 10s, Socket::watched).pause == 2s);
  CHECK(session.wait(start + 1s, 500ms, Socket::watched).pause == 500ms);
  CHECK_FALSE(session.wait(start + 2999ms, 10s, Socket::watched).cut_off);
  CHECK_FALSE(session.was_cut_off());
  const auto wait = session.wait(start + connect_timeout, 10s, Socket::watched);
  CHECK(wait.cut_off);
  CHECK(wait.pause == 10s);
  CHECK(session.was_cut_off());
}

TEST_CASE("the next address has a connect timeout of its own") {
  Reconnect session = connecting();
  static_cast<void>(session.wait(start + connect_timeout, 10s, Socket::watched));
  session.attempted(start + 5s);
  CHECK_FALSE(session.was_cut_off());
  CHECK(session.wait(start + 6s, 10s, Socket::watched).pause == 2s);
}

TEST_CASE("a connection that stands has no connect timeout") {
  Reconnect session = connected();
  const auto wait = session.wait(start + 1h, 10s, Socket::watched);
  CHECK(wait.pause == 10s);
  CHECK_FALSE(wait.cut_off);
}

// -- The connection -------------------------------------------------------------------------------

TEST_CASE("a request is accepted from the moment when the connection may be used") {
  Reconnect session = connecting();
  CHECK(session.refusal() == Errc::not_connected);
  CHECK(session.look(HandleState::connected).connected);
  CHECK(session.refusal() == Errc::not_connected);
  session.on_connected();
  CHECK_FALSE(session.refusal());
  CHECK(session.state() == SessionState::connected);
}

TEST_CASE("a connection is lost at once, before the replies that it cost are handed out") {
  Reconnect session = connected();
  const auto sight = session.look(HandleState::connecting);
  CHECK(sight.lost);
  CHECK_FALSE(sight.ended);
  CHECK(session.refusal() == Errc::not_connected);
  CHECK(session.link() == Link::connecting);
  CHECK(session.suspended());
}

TEST_CASE("a connection is lost once, and the next one is new") {
  Reconnect session = connected();
  CHECK(session.look(HandleState::disconnected).lost);
  CHECK_FALSE(session.look(HandleState::disconnected).lost);
  CHECK_FALSE(session.look(HandleState::greeting).connected);
  connect(session);
  CHECK_FALSE(session.look(HandleState::connected).connected);
}

TEST_CASE("a socket that replaces the one of a connection does not hide its loss") {
  Reconnect session = connected();
  session.attempted(start + 1s);
  CHECK(session.connected());
  CHECK(session.look(HandleState::connecting).lost);
}

TEST_CASE("a peer that ends the connection during the handshake has refused it") {
  const HandleState end = GENERATE(HandleState::disconnected, HandleState::connecting);
  Reconnect session = connecting();
  CHECK_FALSE(session.look(HandleState::greeting).refused);
  const auto sight = session.look(end);
  CHECK(sight.refused);
  CHECK(sight.failed);
  CHECK_FALSE(session.look(end).refused);
  CHECK_FALSE(session.look(end).failed);
}

TEST_CASE("an address that was cut off during the handshake has failed, and refused nothing") {
  Reconnect session = connecting();
  static_cast<void>(session.look(HandleState::greeting));
  static_cast<void>(session.wait(start + connect_timeout, 10s, Socket::watched));
  const auto sight = session.look(HandleState::disconnected);
  CHECK(sight.failed);
  CHECK_FALSE(sight.refused);
}

TEST_CASE("a handshake that is answered is no refusal, whatever the answer") {
  const HandleState answer =
      GENERATE(HandleState::connected, HandleState::expired, HandleState::auth_failed);
  Reconnect session = connecting();
  static_cast<void>(session.look(HandleState::greeting));
  const auto sight = session.look(answer);
  CHECK_FALSE(sight.refused);
  CHECK_FALSE(sight.failed);
}

TEST_CASE("a connection that the client ends counts as cut off until the next attempt") {
  Reconnect session = connected();
  session.on_cut_off();
  CHECK(session.look(HandleState::disconnected).lost);
  CHECK(session.was_cut_off());
  session.attempted(start + 1s);
  CHECK_FALSE(session.was_cut_off());
}

// -- The session ----------------------------------------------------------------------------------

TEST_CASE("an end of the session is seen behind the loss of its connection") {
  Reconnect session = connected();
  const auto sight = session.look(HandleState::expired);
  CHECK(sight.lost);
  CHECK(sight.ended == SessionState::expired);
  CHECK(session.on_end(*sight.ended));
  CHECK(session.state() == SessionState::expired);
  CHECK(session.refusal() == Errc::not_connected);
}

TEST_CASE("refused credentials end the session") {
  Reconnect session = connecting();
  CHECK(session.look(HandleState::auth_failed).ended == SessionState::auth_failed);
  CHECK(session.on_end(SessionState::auth_failed));
  CHECK(session.state() == SessionState::auth_failed);
}

TEST_CASE("a session ends once") {
  Reconnect session = connected();
  CHECK(session.on_end(SessionState::expired));
  CHECK_FALSE(session.on_end(SessionState::auth_failed));
  CHECK_FALSE(session.on_end(SessionState::closed));
  CHECK(session.state() == SessionState::expired);
  CHECK_FALSE(session.connected());
}

TEST_CASE("a retired session serves nobody, and reconnects") {
  Reconnect session = connected();
  CHECK(session.retire());
  CHECK_FALSE(session.retire());
  CHECK(session.refusal() == Errc::not_connected);
  CHECK(session.state() == SessionState::connected);
  CHECK(session.look(HandleState::disconnected).lost);
  CHECK_FALSE(session.suspended());
  CHECK(session.wants_addresses());
  connect(session);
  CHECK(session.state() == SessionState::connected);
  CHECK(session.refusal() == Errc::not_connected);
}

TEST_CASE("a retired session can be closed, and can end") {
  Reconnect session = connected();
  CHECK(session.retire());
  SECTION("closed") { CHECK(session.close() == AfterClose::begin_closing); }
  SECTION("expired") { CHECK(session.on_end(SessionState::expired)); }
}

TEST_CASE("closing begins once, and refuses requests as closed") {
  Reconnect session = connected();
  CHECK(session.close() == AfterClose::begin_closing);
  CHECK(session.close() == AfterClose::wait_for_the_first);
  CHECK(session.refusal() == Errc::closed);
  CHECK_FALSE(session.retire());
  CHECK(session.on_end(SessionState::closed));
  CHECK(session.close() == AfterClose::nothing);
  CHECK(session.refusal() == Errc::closed);
  CHECK(session.state() == SessionState::closed);
}

TEST_CASE("a session that expires while it is closed has been closed") {
  Reconnect session = connected();
  CHECK(session.close() == AfterClose::begin_closing);
  CHECK_FALSE(session.on_end(SessionState::expired));
  CHECK(session.closing());
  CHECK(session.on_end(SessionState::closed));
  CHECK(session.state() == SessionState::closed);
}

TEST_CASE("a session that is over cannot be closed or retired") {
  Reconnect session = connected();
  CHECK(session.on_end(SessionState::expired));
  CHECK(session.close() == AfterClose::nothing);
  CHECK_FALSE(session.retire());
  CHECK(session.refusal() == Errc::not_connected);
}

// -- The next session -----------------------------------------------------------------------------

TEST_CASE("an expired session is followed by another at once") {
  CHECK(next_session(SessionState::expired, CredentialRecord::proven) == NextSession::at_once);
  CHECK(next_session(SessionState::expired, CredentialRecord::unproven) == NextSession::at_once);
}

TEST_CASE("after new credentials are refused the next session has the proven ones") {
  const auto refusal = GENERATE(SessionState::auth_failed, SessionState::auth_required);
  CHECK(next_session(refusal, CredentialRecord::unproven) == NextSession::with_proven_credentials);
}

TEST_CASE("after the only credentials are refused the next session begins after 5 s") {
  const auto refusal = GENERATE(SessionState::auth_failed, SessionState::auth_required);
  CHECK(next_session(refusal, CredentialRecord::proven) == NextSession::after_refused_credentials);
  CHECK(ReconnectPace::refused_credentials == 5s);
}

TEST_CASE("after an identity is refused new credentials are not blamed") {
  const auto record = GENERATE(CredentialRecord::proven, CredentialRecord::unproven);
  CHECK(next_session(SessionState::identity_refused, record) ==
        NextSession::after_refused_credentials);
}

TEST_CASE("a session that was closed is the last one") {
  CHECK(next_session(SessionState::closed, CredentialRecord::proven) == NextSession::none);
}

TEST_CASE("names without an address are looked up again after 1 s") {
  CHECK(ReconnectPace::without_address == 1s);
}

}  // namespace
}  // namespace custodian::tests::reconnect_test
