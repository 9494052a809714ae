#include "session/connection_record.hpp"

#include "support/catch.hpp"

namespace custodian::tests::connection_record_test {

using custodian::detail::ConnectionRecord;
using EndedBy = ConnectionRecord::EndedBy;
using namespace std::chrono_literals;

namespace {

constexpr auto timeout = 10s;
const std::vector<std::string> one_address{"a"};
const std::vector<std::string> two_addresses{"a", "b"};

/// A moment of the clock, after a fixed one.
ConnectionRecord::Time at(std::chrono::milliseconds moment) {
  return ConnectionRecord::Time{1'000s} + moment;
}

/// Records a connection on which a request got no answer.
void connect_in_vain(ConnectionRecord& record, std::chrono::milliseconds moment) {
  record.connected(at(moment), timeout);
  record.asked();
  record.disconnected(at(moment + 10ms), EndedBy::peer);
}

TEST_CASE("nothing is restored after three connections in a row without an answer") {
  ConnectionRecord record{timeout};
  connect_in_vain(record, 0s);
  connect_in_vain(record, 1s);
  CHECK_FALSE(record.restores_nothing());
  connect_in_vain(record, 2s);
  CHECK(record.restores_nothing());
  record.connected(at(3s), timeout);
  record.asked();
  record.answered();
  CHECK(record.restores_nothing());
}

TEST_CASE("an answer begins the row anew") {
  ConnectionRecord record{timeout};
  connect_in_vain(record, 0s);
  connect_in_vain(record, 1s);
  record.connected(at(2s), timeout);
  record.asked();
  record.answered();
  record.disconnected(at(3s), EndedBy::peer);
  connect_in_vain(record, 4s);
  CHECK_FALSE(record.restores_nothing());
}

TEST_CASE("a connection on which nothing was asked says nothing") {
  ConnectionRecord record{timeout};
  for (int i = 0; i < 10; ++i) {
    record.connected(at(i * 1s), timeout);
    record.disconnected(at(i * 1s + 500ms), EndedBy::peer);
  }
  CHECK_FALSE(record.restores_nothing());
  CHECK_FALSE(record.never_answers(at(20s)));
}

TEST_CASE("a session that gets no answer for as long as it lasts, on six connections, has no use") {
  ConnectionRecord record{timeout};
  for (int i = 0; i < 5; ++i) connect_in_vain(record, i * 1s);
  CHECK_FALSE(record.never_answers(at(11s)));
  connect_in_vain(record, 5s);
  CHECK_FALSE(record.never_answers(at(9'999ms)));
  CHECK(record.never_answers(at(10s)));
}

TEST_CASE("a connection that was given up by the client says nothing") {
  ConnectionRecord record{timeout};
  for (int i = 0; i < 10; ++i) {
    record.connected(at(i * 2s), timeout);
    record.asked();
    record.disconnected(at(i * 2s + 1s), EndedBy::us);
  }
  CHECK_FALSE(record.restores_nothing());
  CHECK_FALSE(record.never_answers(at(30s)));
}

TEST_CASE("a probe is wanted when there has been no connection for a session timeout") {
  ConnectionRecord record{timeout};
  record.connected(at(0s), timeout);
  CHECK_FALSE(record.wants_probe(at(60s)));
  record.disconnected(at(60s), EndedBy::peer);
  CHECK_FALSE(record.wants_probe(at(69'999ms)));
  CHECK(record.wants_probe(at(70s)));
}

TEST_CASE("what a probe has shown says something for a session timeout") {
  ConnectionRecord record{timeout};
  record.connected(at(0s), timeout);
  record.disconnected(at(1s), EndedBy::peer);
  record.probe_connected(at(20s));
  CHECK_FALSE(record.wants_probe(at(29'999ms)));
  CHECK(record.wants_probe(at(30s)));
}

TEST_CASE("refusals count after a probe was connected, and not before") {
  ConnectionRecord record{timeout};
  record.connected(at(0s), timeout);
  record.disconnected(at(1s), EndedBy::peer);
  const auto be_refused = [&record](int times, std::chrono::milliseconds moment) {
    for (int i = 0; i < times; ++i) {
      record.attempted("a", at(moment));
      record.refused(at(moment));
    }
  };
  SECTION("servers without a quorum refuse everybody, and cost no session") {
    be_refused(100, 15s);
    CHECK_FALSE(record.is_refused(one_address, at(16s)));
    record.probe_connected(at(20s));
    CHECK_FALSE(record.is_refused(one_address, at(25s)));
  }
  SECTION("three refusals after a probe are enough") {
    record.probe_connected(at(20s));
    be_refused(2, 21s);
    CHECK_FALSE(record.is_refused(one_address, at(22s)));
    be_refused(1, 22s);
    CHECK(record.is_refused(one_address, at(22s)));
  }
  SECTION("but not at once: servers that come back may have too many clients for a moment") {
    record.probe_connected(at(20s));
    be_refused(10, 20'100ms);
    CHECK_FALSE(record.is_refused(one_address, at(21s)));
    CHECK(record.is_refused(one_address, at(22s)));
  }
  SECTION("each of several addresses must have been tried twice, however often one refuses") {
    record.probe_connected(at(20s));
    be_refused(9, 21s);
    CHECK_FALSE(record.is_refused(two_addresses, at(25s)));
    record.attempted("b", at(24s));  // this attempt does not connect
    CHECK_FALSE(record.is_refused(two_addresses, at(25s)));
    record.attempted("b", at(25s));
    CHECK(record.is_refused(two_addresses, at(25s)));
  }
  SECTION("a probe of long ago proves nothing any more, until another one is connected") {
    record.probe_connected(at(20s));
    be_refused(2, 21s);
    be_refused(5, 31s);
    CHECK_FALSE(record.is_refused(one_address, at(31s)));
    record.probe_connected(at(32s));
    CHECK_FALSE(record.is_refused(one_address, at(33s)));
    be_refused(1, 33s);
    CHECK(record.is_refused(one_address, at(33s)));
  }
  SECTION("a connection forgets the refusals before it") {
    record.probe_connected(at(15s));
    be_refused(2, 16s);
    record.connected(at(20s), timeout);
    record.disconnected(at(21s), EndedBy::peer);
    record.probe_connected(at(31s));
    be_refused(2, 32s);
    CHECK_FALSE(record.is_refused(one_address, at(35s)));
  }
}

TEST_CASE("a session lacks authentication when all its addresses have said so") {
  ConnectionRecord record{timeout};
  record.connected(at(0s), timeout);
  CHECK_FALSE(record.lacks_authentication({}, at(1s)));
  record.unauthenticated("a", at(1s));
  CHECK(record.lacks_authentication(one_address, at(1s)));
  CHECK_FALSE(record.lacks_authentication(two_addresses, at(1s)));
  record.unauthenticated("a", at(2s));
  CHECK_FALSE(record.lacks_authentication(two_addresses, at(2s)));
  record.unauthenticated("b", at(2s));
  CHECK(record.lacks_authentication(two_addresses, at(2s)));
}

TEST_CASE("a session lacks authentication when no server has worked for it for a session timeout") {
  ConnectionRecord record{timeout};
  record.connected(at(0s), timeout);
  record.unauthenticated("a", at(1s));
  record.unauthenticated("a", at(9s));
  CHECK_FALSE(record.lacks_authentication(two_addresses, at(10'999ms)));
  CHECK(record.lacks_authentication(two_addresses, at(11s)));
}

TEST_CASE("what an address said that the session has no more does not count") {
  ConnectionRecord record{timeout};
  record.connected(at(0s), timeout);
  record.unauthenticated("gone", at(1s));
  CHECK_FALSE(record.lacks_authentication(two_addresses, at(20s)));
  record.unauthenticated("a", at(20s));
  CHECK_FALSE(record.lacks_authentication(two_addresses, at(21s)));
  CHECK_FALSE(record.lacks_authentication({}, at(40s)));
}

TEST_CASE("what a server says of authentication is about its connection") {
  ConnectionRecord record{timeout};
  record.connected(at(0s), timeout);
  CHECK_FALSE(record.is_unauthenticated());
  record.unauthenticated("a", at(1s));
  record.disconnected(at(1s), EndedBy::peer);
  CHECK(record.is_unauthenticated());
  record.connected(at(2s), timeout);
  CHECK_FALSE(record.is_unauthenticated());
}

TEST_CASE("a server that works says that the session may go on") {
  ConnectionRecord record{timeout};
  record.connected(at(0s), timeout);
  record.unauthenticated("a", at(1s));
  CHECK(record.served());
  CHECK_FALSE(record.served());
  record.connected(at(10s), timeout);
  CHECK(record.served());
  record.unauthenticated("b", at(20s));
  CHECK_FALSE(record.lacks_authentication(two_addresses, at(20s)));
}

TEST_CASE("a new session that one server refuses goes on to the others for a session timeout") {
  ConnectionRecord record{timeout};
  record.identity_refused("a", at(0s));
  CHECK_FALSE(record.is_identity_refused(two_addresses, at(9'999ms)));
  SECTION("and gives up if none has accepted it by then") {
    record.identity_refused("a", at(9s));
    CHECK(record.is_identity_refused(two_addresses, at(10s)));
  }
  SECTION("and gives up when all have refused it") {
    record.identity_refused("b", at(1s));
    CHECK(record.is_identity_refused(two_addresses, at(1s)));
    CHECK_FALSE(record.lacks_authentication(two_addresses, at(1s)));
  }
  SECTION("and forgets the refusal when one has accepted it, though nothing is asked there") {
    record.connected(at(1s), timeout);
    record.disconnected(at(60s), EndedBy::peer);
    record.identity_refused("a", at(60s));
    CHECK_FALSE(record.is_identity_refused(two_addresses, at(61s)));
  }
}

TEST_CASE(
    "an identity that was accepted before must be refused twice: a ticket may just have ended") {
  ConnectionRecord record{timeout};
  record.connected(at(0s), timeout);
  record.disconnected(at(1s), EndedBy::peer);
  record.identity_refused("a", at(1s));
  record.identity_refused("b", at(1s));
  CHECK_FALSE(record.is_identity_refused(two_addresses, at(11s)));
  record.identity_refused("a", at(12s));
  CHECK_FALSE(record.is_identity_refused(two_addresses, at(12s)));
  SECTION("at each address") {
    record.identity_refused("b", at(12s));
    CHECK(record.is_identity_refused(two_addresses, at(12s)));
  }
  SECTION("and twice again after the next connection") {
    record.connected(at(13s), timeout);
    record.disconnected(at(14s), EndedBy::peer);
    record.identity_refused("a", at(14s));
    CHECK_FALSE(record.is_identity_refused({"a"}, at(14s)));
    record.identity_refused("a", at(14s));
    CHECK(record.is_identity_refused({"a"}, at(14s)));
  }
}

TEST_CASE("the timeout that counts is the one that the servers said") {
  ConnectionRecord record{60s};
  record.connected(at(0s), timeout);
  record.disconnected(at(1s), EndedBy::peer);
  record.identity_refused("a", at(1s));
  record.identity_refused("a", at(1s));
  CHECK(record.is_identity_refused(two_addresses, at(11s)));
}

TEST_CASE(
    "a session that servers continue, but not authenticate, is given up after a session timeout") {
  ConnectionRecord record{timeout};
  record.connected(at(0s), timeout);
  record.disconnected(at(1s), EndedBy::peer);
  for (int i = 0; i < 100; ++i) record.continued_unauthenticated(at(20s));
  CHECK_FALSE(record.is_never_authenticated(at(29'999ms)));
  CHECK(record.is_never_authenticated(at(30s)));
  record.connected(at(30s), timeout);
  CHECK_FALSE(record.is_never_authenticated(at(60s)));
  record.disconnected(at(60s), EndedBy::peer);
  record.continued_unauthenticated(at(61s));
  record.continued_unauthenticated(at(80s));
  CHECK_FALSE(record.is_never_authenticated(at(80s)));
  record.continued_unauthenticated(at(80s));
  CHECK(record.is_never_authenticated(at(80s)));
}

TEST_CASE("after a probe that was over the next one begins no sooner than 5 s later") {
  ConnectionRecord record{timeout};
  record.connected(at(0s), timeout);
  record.disconnected(at(1s), EndedBy::peer);
  CHECK(record.wants_probe(at(20s)));
  record.probe_over(at(20s));
  CHECK_FALSE(record.wants_probe(at(24'999ms)));
  CHECK(record.wants_probe(at(25s)));
}

TEST_CASE("refusals count from a sixth of the session timeout after a probe") {
  ConnectionRecord record{12s};
  record.connected(at(0s), 12s);
  record.disconnected(at(1s), EndedBy::peer);
  record.probe_connected(at(20s));
  for (int i = 0; i < 3; ++i) {
    record.attempted("a", at(20s));
    record.refused(at(20s));
  }
  CHECK_FALSE(record.is_refused(one_address, at(21'999ms)));
  CHECK(record.is_refused(one_address, at(22s)));
}

}  // namespace

}  // namespace custodian::tests::connection_record_test
