#include "doctor/diagnosis.hpp"

#include <algorithm>

#include "support/catch.hpp"

namespace custodian::tests::diagnosis_test {
namespace {

using namespace cli;
using namespace std::chrono_literals;

ServerFacts server(const std::string& host, const std::string& mode) {
  ServerFacts facts{.address = {host, 2181}};
  facts.srvr = {Answer::Kind::text, "Zookeeper version: 3.8.0-5a, built on\nMode: " + mode + "\n"};
  facts.conf = {Answer::Kind::text, {}};
  facts.cons = {Answer::Kind::text, {}};
  facts.configuration = {2s, 4s, 40s};
  facts.session = SessionTrial{{}, 10s};
  return facts;
}

/// Three servers in good order.
Facts good() {
  return {
      .session_timeout = 10s,
      .touch_interval = 1500ms,
      .servers = {server("zk1", "follower"), server("zk2", "leader"), server("zk3", "follower")},
      .extended_types = true,
      .path = PathFacts{.path = "/locks",
                        .existing = "/locks",
                        .acl = Acl{{Permissions::all, "digest", "app:x"}}},
      .path_was_given = true,
      .clock = ClockFacts{2ms, 5ms, 8ms}};
}

/// The worst verdict of the findings of this check on the subject.
Verdict verdict_on(const Facts& facts, std::string_view check, std::string_view subject = {}) {
  Verdict worst = Verdict::ok;
  bool is_found = false;
  for (const Finding& finding : diagnose(facts)) {
    if (finding.check != check || finding.subject != subject) continue;
    is_found = true;
    worst = std::max(worst, finding.verdict);
    INFO(finding.text);
    CHECK((finding.verdict == Verdict::ok || !finding.advice.empty()));
  }
  INFO(check << " " << subject);
  CHECK(is_found);
  return worst;
}

std::ptrdiff_t count_of(const Facts& facts, Verdict verdict) {
  return std::ranges::count(diagnose(facts), verdict, &Finding::verdict);
}

TEST_CASE("nothing is wrong with an ensemble as it should be") {
  CHECK(count_of(good(), Verdict::fail) == 0);
  CHECK(count_of(good(), Verdict::warn) == 0);
  CHECK(verdict_on(good(), "leader") == Verdict::ok);
  CHECK(verdict_on(good(), "session", "zk1:2181") == Verdict::ok);
  CHECK(verdict_on(good(), "path", "/locks") == Verdict::ok);
}

TEST_CASE("credentials without TLS are a warning, and so is a certificate that ends soon") {
  Facts facts = good();
  facts.security = Security::plain_with_credentials;
  CHECK(verdict_on(facts, "tls") == Verdict::warn);
  facts.security = Security::tls;
  CHECK(verdict_on(facts, "tls") == Verdict::ok);
  facts.now = std::chrono::sys_days{std::chrono::year{2026} / 11 / 1};
  facts.servers[0].srvr.certificate_ends = facts.now + std::chrono::days{30};
  facts.servers[1].srvr.certificate_ends = facts.now + std::chrono::days{30} - 1s;
  CHECK(verdict_on(facts, "tls", "zk1:2181") == Verdict::ok);
  CHECK(verdict_on(facts, "tls", "zk2:2181") == Verdict::warn);
}

TEST_CASE("a server that is out of reach, silent, without a quorum or something else fails") {
  for (const Answer& answer :
       {Answer{Answer::Kind::unreachable, "Connection refused"}, Answer{Answer::Kind::silent, {}},
        Answer{Answer::Kind::text, "This ZooKeeper instance is not currently serving requests\n"},
        Answer{Answer::Kind::text, "SSH-2.0"},
        Answer{Answer::Kind::text, "Zookeeper version: 3.4.14-x\nMode: follower\n"}}) {
    Facts facts = good();
    facts.servers[0].srvr = answer;
    INFO(answer.text);
    CHECK(verdict_on(facts, "server", "zk1:2181") == Verdict::fail);
    CHECK(verdict_on(facts, "server", "zk2:2181") == Verdict::ok);
  }
}

TEST_CASE("a server that may not speak is no failure, and which words are missing is told") {
  Facts facts = good();
  facts.servers[0].srvr = {Answer::Kind::not_allowed, {}};
  CHECK(verdict_on(facts, "server", "zk1:2181") == Verdict::warn);
  facts = good();
  facts.servers[0].cons = {Answer::Kind::not_allowed, {}};
  const auto findings = diagnose(facts);
  CHECK(findings[0].text == "follower, version 3.8.0; not allowed: cons");
  CHECK(findings[0].advice.find("4lw.commands.whitelist") != std::string::npos);
}

TEST_CASE("an admin server that is not asked because of TLS is named, if it would have been") {
  Facts facts = good();
  facts.admin_server_left_out = true;
  CHECK(diagnose(facts)[0].text == "follower, version 3.8.0");
  facts.servers[0].conf = {Answer::Kind::not_allowed, {}};
  CHECK(diagnose(facts)[0].text ==
        "follower, version 3.8.0; not allowed: conf; its admin server, which would tell by plain "
        "HTTP, was not asked (--admin-port 8080 does)");
  facts.admin_server_left_out = false;
  CHECK(diagnose(facts)[0].text == "follower, version 3.8.0; not allowed: conf");
}

TEST_CASE("servers of several ensembles fail, for a lock would be held in each") {
  Facts facts = good();
  facts.servers[0] = server("zk1", "standalone");
  CHECK(verdict_on(facts, "leader") == Verdict::fail);
  facts.servers[0] = server("zk1", "leader");
  CHECK(verdict_on(facts, "leader") == Verdict::fail);
  facts.servers = {server("zk1", "standalone")};
  CHECK(verdict_on(facts, "leader") == Verdict::warn);
  facts.servers = {server("zk1", "follower"), server("zk3", "observer")};
  CHECK(verdict_on(facts, "leader") == Verdict::warn);
}

TEST_CASE("a session too short for locks fails; one that is not as asked for is a warning") {
  Facts facts = good();
  facts.servers[0].session = SessionTrial{{}, 4s};
  CHECK(verdict_on(facts, "session", "zk1:2181") == Verdict::fail);
  facts.servers[0].session = SessionTrial{{}, 4500ms};
  CHECK(verdict_on(facts, "session", "zk1:2181") == Verdict::warn);
  facts.servers[0].session = SessionTrial{{}, 40s};
  CHECK(verdict_on(facts, "session", "zk1:2181") == Verdict::warn);
  facts.servers[0].session = SessionTrial{ServerErrc::auth_failed, {}};
  CHECK(verdict_on(facts, "session", "zk1:2181") == Verdict::fail);
  facts.servers[0].session = SessionTrial{ServerErrc::session_closed_require_sasl_auth, {}};
  CHECK(verdict_on(facts, "session", "zk1:2181") == Verdict::fail);
  facts = good();
  facts.session_timeout = 2s;
  facts.servers[0].session = SessionTrial{{}, 4s};
  const auto findings = diagnose(facts);
  const auto found = std::ranges::find(findings, "session", &Finding::check);
  REQUIRE(found != findings.end());
  CHECK(found->verdict == Verdict::fail);
  CHECK(found->advice.find("ask for more") != std::string::npos);
}

TEST_CASE("a tick that is long for the touch interval is told by how long") {
  Facts facts = good();
  const auto with_tick = [&](std::chrono::milliseconds tick) {
    facts.servers[0].configuration.tick_time = tick;
    return verdict_on(facts, "tick", "zk1:2181");
  };
  CHECK(with_tick(2000ms) == Verdict::ok);
  CHECK(with_tick(2001ms) == Verdict::warn);
  CHECK(with_tick(3000ms) == Verdict::warn);
  CHECK(with_tick(3001ms) == Verdict::fail);
  facts.servers = {server("zk1", "standalone")};
  CHECK(with_tick(6000ms) == Verdict::warn);
}

TEST_CASE(
    "an observer may stand behind an observer master, and a short touch interval is a warning") {
  Facts facts = good();
  facts.servers[0] = server("zk1", "observer");
  CHECK(verdict_on(facts, "observer", "zk1:2181") == Verdict::warn);
  CHECK(verdict_on(facts, "tick", "zk1:2181") == Verdict::ok);
  CHECK(count_of(facts, Verdict::fail) == 0);
  const auto advised = [&] {
    const auto findings = diagnose(facts);
    const auto found = std::ranges::find(findings, "observer", &Finding::check);
    REQUIRE(found != findings.end());
    return found->advice;
  };
  CHECK(advised().find("touch_interval of 3s ") != std::string::npos);
  // The limit is one and a half ticks of 2 s.
  facts.touch_interval = 2999ms;
  CHECK(verdict_on(facts, "observer", "zk1:2181") == Verdict::warn);
  facts.touch_interval = 3000ms;
  CHECK(verdict_on(facts, "observer", "zk1:2181") == Verdict::ok);
  // From here on the length of the tick is unknown.
  facts.servers[0].configuration = {};
  CHECK(verdict_on(facts, "observer", "zk1:2181") == Verdict::warn);
  CHECK(advised().find("one and a half ticks") != std::string::npos);
  // Without observers among the servers there is no such finding.
  const auto findings = diagnose(good());
  CHECK(std::ranges::find(findings, "observer", &Finding::check) == findings.end());
}

TEST_CASE("a tick that is only guessed at is a warning at the most") {
  Facts facts = good();
  facts.servers[0].configuration = {};
  facts.servers[0].shortest = SessionTrial{{}, 12s};
  CHECK(verdict_on(facts, "tick", "zk1:2181") == Verdict::warn);
  facts.servers[0].shortest = SessionTrial{{}, 4s};
  CHECK(verdict_on(facts, "tick", "zk1:2181") == Verdict::ok);
}

TEST_CASE("nobody is blamed for a path that was removed while it was looked at") {
  for (error_code PathFacts::*deed : {&PathFacts::list_error, &PathFacts::create_error}) {
    Facts facts = good();
    (*facts.path).*deed = ServerErrc::no_node;
    CHECK(verdict_on(facts, "path", "/locks") == Verdict::warn);
  }
}

TEST_CASE("what credentials do not allow fails, deed by deed") {
  for (error_code PathFacts::*deed :
       {&PathFacts::list_error, &PathFacts::create_error, &PathFacts::remove_error}) {
    Facts facts = good();
    (*facts.path).*deed = ServerErrc::no_auth;
    CHECK(verdict_on(facts, "path", "/locks") == Verdict::fail);
    CHECK(count_of(facts, Verdict::fail) == 1);
  }
}

TEST_CASE("a path that does not exist is judged by where it will be, and a missing chroot fails") {
  Facts facts = good();
  facts.path->existing = "/";
  CHECK(verdict_on(facts, "path", "/locks") == Verdict::ok);
  facts.path->existing.clear();
  CHECK(verdict_on(facts, "path", "/locks") == Verdict::fail);
}

TEST_CASE("an ACL that is open to everybody is a warning; one that all may read is none") {
  Facts facts = good();
  facts.path->acl = open_acl();
  CHECK(verdict_on(facts, "acl", "/locks") == Verdict::warn);
  facts.path->acl = read_acl();
  CHECK(count_of(facts, Verdict::warn) == 0);
}

TEST_CASE("extended types that are off, servers that differ, and sleep are warnings") {
  Facts facts = good();
  facts.extended_types = false;
  CHECK(verdict_on(facts, "extended-types") == Verdict::warn);
  facts.servers[0].srvr.text = "Zookeeper version: 3.9.1-x\nMode: follower\n";
  CHECK(verdict_on(facts, "versions") == Verdict::warn);
  facts.suspended = 3h;
  CHECK(verdict_on(facts, "suspended") == Verdict::warn);
  CHECK(count_of(facts, Verdict::fail) == 0);
}

TEST_CASE("clocks that differ by more than can be measured are a warning, and slow writes") {
  Facts facts = good();
  facts.clock = ClockFacts{-1500ms, 600ms, 1200ms};
  CHECK(verdict_on(facts, "clock") == Verdict::ok);
  facts.clock = ClockFacts{-1700ms, 600ms, 1200ms};
  CHECK(verdict_on(facts, "clock") == Verdict::warn);
  CHECK(verdict_on(facts, "write") == Verdict::ok);
  facts.clock = ClockFacts{0ms, 1300ms, 2600ms};
  CHECK(verdict_on(facts, "write") == Verdict::warn);
  facts.clock.reset();
  facts.path_was_given = false;
  CHECK(verdict_on(facts, "clock") == Verdict::warn);
}

TEST_CASE("a finding is a line, and its advice another one") {
  CHECK(lines_of({Verdict::warn, "tick", "zk1:2181", "it is long", "shorten it"}) ==
        std::vector<std::string>{"WARN  tick zk1:2181: it is long", "      -> shorten it"});
  CHECK(lines_of({Verdict::ok, "leader", {}, "zk2 leads", {}}) ==
        std::vector<std::string>{"OK    leader: zk2 leads"});
}

}  // namespace
}  // namespace custodian::tests::diagnosis_test
