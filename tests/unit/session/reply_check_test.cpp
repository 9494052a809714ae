#include "session/reply_check.hpp"

#include <limits>

#include "support/catch.hpp"
#include "support/jute.hpp"

namespace custodian::tests::reply_check_test {
namespace {

using detail::ExpectedReply;
using detail::Finding;
using detail::ReplyBody;
using detail::ReplyCheck;

constexpr std::int32_t xid = 1'000;

/// The check of a connection whose handshake is over, with these requests under way.
ReplyCheck connected(std::vector<ExpectedReply> expected = {}, std::size_t credentials = 0) {
  ReplyCheck check{credentials};
  REQUIRE(check.examine(Greeting{}.frame()).kind == Finding::Kind::good);
  for (ExpectedReply& each : expected) check.expect(std::move(each));
  return check;
}

bool is_good(const Finding& finding) { return finding.kind == Finding::Kind::good; }
bool is_fault(const Finding& finding) {
  return finding.kind == Finding::Kind::fault && !finding.fault.empty();
}

/// A well-formed reply of each kind.
Jute reply(ReplyBody body) {
  Jute jute = Jute{}.header(xid);
  switch (body) {
    case ReplyBody::nothing:
    case ReplyBody::results: return jute;
    case ReplyBody::path: return jute.string("/path");
    case ReplyBody::path_and_stat: return jute.string("/path").stat();
    case ReplyBody::stat: return jute.stat();
    case ReplyBody::data_and_stat: return jute.string("data").stat();
    case ReplyBody::names_and_stat: return jute.number(2).string("a").string("").stat();
    case ReplyBody::acl_and_stat:
      return jute.number(1).number(31).string("world").string("anyone").stat();
  }
  return jute;
}

constexpr ReplyBody bodies[] = {
    ReplyBody::nothing,       ReplyBody::path,           ReplyBody::path_and_stat, ReplyBody::stat,
    ReplyBody::data_and_stat, ReplyBody::names_and_stat, ReplyBody::acl_and_stat};

TEST_CASE("reply check: a reply of its kind is good, as long as it is whole") {
  for (const ReplyBody body : bodies) {
    CAPTURE(static_cast<int>(body));
    const std::string frame = reply(body).frame();
    for (std::size_t seen = 0; seen < frame.size(); ++seen) {
      const Finding finding = connected({{body}}).examine(frame.substr(0, seen));
      CHECK(finding.kind == Finding::Kind::partial);
      CHECK(finding.size == (seen < 4 ? 4 : frame.size()));
    }
    const Finding finding = connected({{body}}).examine(frame + "more");
    CHECK(is_good(finding));
    CHECK(finding.size == frame.size());
  }
}

TEST_CASE("reply check: a reply that ends too early is a fault, wherever it ends") {
  for (const ReplyBody body : bodies) {
    CAPTURE(static_cast<int>(body));
    const std::string whole = reply(body).bytes();
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const std::string cut = Jute{}.raw(whole.substr(0, size)).frame();
      CHECK(is_fault(connected({{body}}).examine(cut)));
      CHECK(is_fault(connected({{body}}).examine_beginning(cut)));
    }
  }
}

TEST_CASE("reply check: an error has no body, whatever was asked") {
  for (const ReplyBody body : bodies) {
    CHECK(is_good(connected({{body}}).examine(Jute{}.header(xid, -101).frame())));
  }
  CHECK(is_good(connected({{ReplyBody::results, {ReplyBody::path}}})
                    .examine(Jute{}.header(xid, -4).frame())));
}

TEST_CASE("reply check: each request is answered once, in its order") {
  ReplyCheck check = connected({{ReplyBody::stat}, {ReplyBody::nothing}});
  CHECK(is_good(check.examine(reply(ReplyBody::stat).frame())));
  CHECK(is_good(check.examine(reply(ReplyBody::nothing).frame())));
  CHECK(is_fault(check.examine(reply(ReplyBody::nothing).frame())));

  ReplyCheck other = connected({{ReplyBody::stat}, {ReplyBody::nothing}});
  CHECK(is_fault(other.examine(reply(ReplyBody::nothing).frame())));

  ReplyCheck withdrawn = connected({{ReplyBody::stat}});
  withdrawn.withdraw();
  CHECK(is_fault(withdrawn.examine(reply(ReplyBody::stat).frame())));
}

TEST_CASE("reply check: a fault stays one, however often it is looked at") {
  ReplyCheck check = connected({{ReplyBody::data_and_stat}, {ReplyBody::stat}});
  const std::string lie = Jute{}.header(xid).number(1'000).stat().frame();
  for (int i = 0; i < 3; ++i) CHECK(is_fault(check.examine(lie)));
  CHECK(is_good(check.examine(reply(ReplyBody::data_and_stat).frame())));
}

TEST_CASE("reply check: with a connection its requests are forgotten, and a handshake is next") {
  ReplyCheck check = connected({{ReplyBody::stat}});
  check.connect(0x1234);
  CHECK(is_fault(check.examine(reply(ReplyBody::stat).frame())));
  CHECK(is_good(check.examine(Greeting{}.frame())));
  CHECK(is_fault(check.examine(reply(ReplyBody::stat).frame())));
}

TEST_CASE("reply check: numbers that cannot be are faults") {
  const auto most = std::numeric_limits<std::int32_t>::max();
  const auto judged = [](ReplyBody body, const Jute& jute) {
    return is_fault(connected({{body}}).examine(jute.frame()));
  };
  for (const std::int32_t length : {most, -1, -2, -most}) {
    CHECK(judged(ReplyBody::path, Jute{}.header(xid).number(length)));
    CHECK(judged(ReplyBody::names_and_stat, Jute{}.header(xid).number(length).stat()));
    CHECK(judged(ReplyBody::names_and_stat, Jute{}.header(xid).number(1).number(length).stat()));
    CHECK(judged(ReplyBody::acl_and_stat, Jute{}.header(xid).number(length).stat()));
    // This is the reply for a node without data.
    const Finding data = connected({{ReplyBody::data_and_stat}})
                             .examine(Jute{}.header(xid).number(length).stat().frame());
    CHECK((length == -1 ? is_good(data) : is_fault(data)));
  }
  CHECK(is_fault(connected().examine(Jute{}.number(-1).bytes())));
  CHECK(is_fault(connected().examine(Jute{}.number(1'500'000'000).bytes())));
  const auto longest = static_cast<std::int32_t>(ReplyCheck::longest_frame);
  CHECK(is_fault(connected().examine(Jute{}.number(longest + 1).bytes())));
  CHECK_FALSE(is_fault(connected().examine(Jute{}.number(longest).bytes())));
}

Jute result(std::int32_t type) { return Jute{}.number(type).boolean(false).number(0); }
const std::string end_of_results = Jute{}.number(-1).boolean(true).number(-1).bytes();
const std::vector<ReplyBody> three{ReplyBody::path, ReplyBody::nothing, ReplyBody::stat};

TEST_CASE(
    "reply check: a transaction has as many results as operations, or errors in their place") {
  const std::string created = result(1).string("/path").bytes();
  const std::string removed = result(2).bytes();
  const std::string set = result(5).stat().bytes();
  const std::string failed = result(-1).number(-101).bytes();
  const auto judge = [&](const std::string& results) {
    return connected({{ReplyBody::results, three}})
        .examine(Jute{}.header(xid).raw(results).frame());
  };
  CHECK(is_good(judge(created + removed + set + end_of_results)));
  CHECK(is_good(judge(failed + failed + failed + end_of_results)));
  CHECK(is_fault(judge(created + removed + end_of_results)));
  CHECK(is_fault(judge(created + removed + set + set + end_of_results)));
  CHECK(is_fault(judge(created + removed + set)));
  CHECK(is_fault(judge("")));
  CHECK(is_fault(judge(end_of_results)));
}

TEST_CASE("reply check: a transaction's results must be seen as a whole") {
  const std::string frame =
      Jute{}.header(xid).raw(result(1).string("/path").bytes()).raw(end_of_results).frame();
  const auto judge = [&](std::size_t seen) {
    return connected({{ReplyBody::results, {ReplyBody::path}}})
        .examine_beginning(frame.substr(0, seen));
  };
  CHECK(is_good(judge(frame.size())));
  CHECK(is_fault(judge(frame.size() - 5)));
}

TEST_CASE("reply check: of other long replies the beginning is enough") {
  const std::string name(200, 'n');
  const std::string names =
      Jute{}.header(xid).number(3).string(name).string(name).string(name).stat().frame();
  const auto judge = [](ReplyBody body, const std::string& bytes) {
    return connected({{body}}).examine_beginning(bytes);
  };
  CHECK(is_good(judge(ReplyBody::names_and_stat, names.substr(0, 100))));
  CHECK(judge(ReplyBody::names_and_stat, names.substr(0, 100)).size == names.size());
  const std::string data = Jute{}.header(xid).string(name).stat().frame();
  CHECK(is_good(judge(ReplyBody::data_and_stat, data.substr(0, 64))));
  // The lengths already show that the frame has no room for the rest.
  const std::string cut = Jute{}.header(xid).string(name).frame();
  CHECK(is_fault(judge(ReplyBody::data_and_stat, cut.substr(0, 64))));
}

TEST_CASE("reply check: what answers no request") {
  const auto event = [](std::string_view path) {
    return Jute{}.header(-1).number(3).number(3).string(path).frame();
  };
  CHECK(is_good(connected().examine(event("/path"))));
  CHECK(is_fault(connected().examine(Jute{}.header(-1).number(3).number(3).number(9).frame())));
  CHECK(is_good(connected().examine(Jute{}.header(-2).frame())));
  CHECK(is_good(connected().examine(Jute{}.header(-8).frame())));
  CHECK(is_fault(connected().examine(Jute{}.header(-4, -115).frame())));
  CHECK(is_good(connected({}, 1).examine(Jute{}.header(-4, -115).frame())));
}

TEST_CASE("reply check: a server that wants authentication says so by what no request asked, too") {
  for (const std::int32_t own : {-2, -8}) {
    ReplyCheck check = connected();
    CHECK(is_good(check.examine(Jute{}.header(own).frame())));
    CHECK_FALSE(check.take_want_of_authentication());
    CHECK(is_good(check.examine(Jute{}.header(own, -124).frame())));
    // The server ends the connection after this, and the client makes another one.
    check.connect(0x1234);
    CHECK(check.take_want_of_authentication());
    CHECK_FALSE(check.take_want_of_authentication());
  }
}

TEST_CASE("reply check: what is left unread says whether the server wants authentication") {
  using detail::refuses_unauthenticated;
  const std::string refusal = Jute{}.header(7, -124).frame();
  const std::string ping = Jute{}.header(-2).frame();
  const std::string event = Jute{}.header(-1).number(1).number(3).string("/a").frame();
  CHECK(refuses_unauthenticated(refusal));
  CHECK(refuses_unauthenticated(ping + event + refusal));
  CHECK(refuses_unauthenticated(Jute{}.header(-8, -124).frame()));
  CHECK(refuses_unauthenticated(refusal + refusal));
  CHECK_FALSE(refuses_unauthenticated(""));
  CHECK_FALSE(refuses_unauthenticated(ping + event));
  CHECK_FALSE(refuses_unauthenticated(Jute{}.header(7, -101).frame()));
  // A request that was served before the refusal may have changed something.
  CHECK_FALSE(refuses_unauthenticated(Jute{}.header(6).frame() + refusal));
  CHECK_FALSE(refuses_unauthenticated(Jute{}.header(0).frame() + refusal));
  CHECK_FALSE(refuses_unauthenticated(Jute{}.header(-8).frame() + refusal));
  // Incomplete frames, and bytes that are no frame, do not count as a refusal.
  CHECK_FALSE(refuses_unauthenticated(refusal.substr(0, refusal.size() - 1)));
  CHECK_FALSE(refuses_unauthenticated(Jute{}.number(-1).bytes() + refusal));
  CHECK_FALSE(refuses_unauthenticated(Jute{}.string("short").bytes() + refusal));
}

TEST_CASE("reply check: a handshake gives a session that can be used") {
  const auto judge = [](const Greeting& greeting, std::int64_t session = 0) {
    ReplyCheck check{0};
    check.connect(session);
    return check.examine(greeting.frame());
  };
  CHECK(is_good(judge({})));
  CHECK(is_good(judge({}, 0x1234)));
  CHECK(is_fault(judge({.session = 0})));
  // Both answers say that the session has expired; their other fields mean nothing.
  CHECK(is_good(judge({.timeout = 0, .session = 0}, 0x1234)));
  CHECK(is_good(judge({.session = 0x4321}, 0x1234)));
  for (const std::int64_t session : {0, 0x1234}) {
    CHECK(is_fault(judge({.timeout = 0}, session)));
    CHECK(is_fault(judge({.timeout = -1}, session)));
    CHECK(is_fault(judge({.timeout = std::numeric_limits<std::int32_t>::max()}, session)));
    const std::int32_t longest = std::numeric_limits<std::int32_t>::max() / 2;
    CHECK(is_good(judge({.timeout = longest}, session)));
    CHECK(is_fault(judge({.timeout = longest + 1}, session)));
    CHECK(is_fault(judge({.password_size = 17}, session)));
    CHECK(is_fault(judge({.read_only = true}, session)));
  }
}

TEST_CASE("reply check: a handshake has one length only, or the library would lose its place") {
  for (const std::size_t size : {0, 16, 35, 36, 38, 100}) {
    ReplyCheck other{0};
    // The length alone shows the fault.
    CHECK(is_fault(other.examine(Jute{}.number(static_cast<std::int32_t>(size)).bytes())));
  }
}

TEST_CASE("reply check: a server is heard when it has answered something after the handshake") {
  ReplyCheck check{1};
  const auto frame_of = [](std::int32_t request) {
    return Jute{}.number(request).long_number(1).number(0).frame();
  };
  CHECK(is_good(check.examine(Greeting{}.frame())));
  CHECK(is_good(check.examine(frame_of(-4))));  // answers credentials, and no request
  CHECK_FALSE(check.heard());
  SECTION("a request") {
    check.expect({});
    CHECK(is_good(check.examine(frame_of(1))));
  }
  SECTION("the restored watches") { CHECK(is_good(check.examine(frame_of(-8)))); }
  SECTION("a ping") { CHECK(is_good(check.examine(frame_of(-2)))); }
  CHECK(check.heard());
  check.connect(0);
  CHECK_FALSE(check.heard());
}

}  // namespace
}  // namespace custodian::tests::reply_check_test
