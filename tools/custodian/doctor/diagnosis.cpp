#include "doctor/diagnosis.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <set>

#include "doctor/findings.hpp"
#include "doctor/path_diagnosis.hpp"
#include "doctor/timing_diagnosis.hpp"
#include "text/printable_text.hpp"

namespace custodian::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using namespace std::chrono_literals;

constexpr std::string_view advice_on_words =
    "4lw.commands.whitelist=srvr,conf,cons in the server's zoo.cfg";

/// Returns the numbers in a version such as "3.8.0".
std::array<int, 3> numbers_of(std::string_view version) {
  std::array<int, 3> numbers{};
  for (int& number : numbers) {
    const auto [end, error] =
        std::from_chars(version.data(), version.data() + version.size(), number);
    const auto read = static_cast<std::size_t>(end - version.data());
    version.remove_prefix(std::min(read + 1, version.size()));
    if (error != std::errc{}) break;
  }
  return numbers;
}

/// The first version of ZooKeeper with containers.
constexpr std::array oldest_version{3, 5, 3};

class Diagnosis : Findings {
 public:
  explicit Diagnosis(const Facts& facts) : facts_{facts} {}

  std::vector<Finding> run() {
    for (const ServerFacts& server : facts_.servers) {
      judge_reach(server);
      append(diagnose_timing(server, facts_));
      judge_certificate(server);
    }
    judge_security();
    judge_leader();
    judge_versions();
    if (facts_.ensemble_error) {
      fail("ensemble", {}, "gives no session: " + facts_.ensemble_error.message(),
           "see the servers above, and their logs");
    }
    judge_extended_types();
    if (facts_.path) append(diagnose_path(*facts_.path));
    judge_clock();
    return take();
  }

 private:
  void judge_reach(const ServerFacts& server) {
    const std::string name = to_string(server.address);
    switch (server.srvr.kind) {
      case Answer::Kind::not_asked: return;
      case Answer::Kind::unreachable:
        return fail("server", name, "cannot be reached: " + server.srvr.text,
                    "is it running, and is its port open to this machine? If it is gone for good, "
                    "take it out of the list of servers");
      case Answer::Kind::silent:
        return fail("server", name, "takes connections and does not answer",
                    "it may be stopped or overloaded, or want TLS on this port; see its log");
      case Answer::Kind::not_allowed:
        return warn("server", name, "may not say what it is: the word srvr is not allowed",
                    std::string{advice_on_words});
      case Answer::Kind::text: break;
    }
    if (is_not_serving(server.srvr.text)) {
      return fail("server", name, "runs, and serves nobody: it has no quorum",
                  "look at the other servers, and at the logs of all");
    }
    const auto report = parse_srvr(server.srvr.text);
    if (!report) {
      return fail("server", name, "answers, but not as a ZooKeeper server",
                  "is this the client port of a server?");
    }
    if (!report->version.empty() && numbers_of(report->version) < oldest_version) {
      return fail("server", name, "is of version " + printable(report->version),
                  "containers, which locks create, need ZooKeeper 3.5.3 or newer");
    }
    std::string text = printable(report->mode) + ", version " + printable(report->version);
    std::string closed;
    for (const auto& [word, answer] : {std::pair{"conf", &server.conf}, {"cons", &server.cons}}) {
      if (answer->kind != Answer::Kind::not_allowed) continue;
      closed += (closed.empty() ? "" : ", ") + std::string{word};
    }
    if (closed.empty()) return ok("server", name, std::move(text));
    text += "; not allowed: " + closed;
    if (facts_.admin_server_left_out && server.conf.kind == Answer::Kind::not_allowed) {
      text +=
          "; its admin server, which would tell by plain HTTP, was not asked (--admin-port "
          "8080 does)";
    }
    ok("server", name, std::move(text),
       "to see more (cons: the addresses of clients): " + std::string{advice_on_words});
  }

  void judge_certificate(const ServerFacts& server) {
    constexpr std::chrono::days soon{30};
    const auto ends = server.srvr.certificate_ends;
    if (!ends) return;
    const auto days = std::chrono::floor<std::chrono::days>(*ends - facts_.now);
    const std::string name = to_string(server.address);
    const std::string text = "the certificate ends in " + std::to_string(days.count()) + " days";
    if (days >= soon) return ok("tls", name, text);
    warn("tls", name, text, "renew it: from then on nobody connects");
  }

  void judge_security() {
    switch (facts_.security) {
      case Security::plain: return;
      case Security::plain_with_credentials:
        return warn("tls", {},
                    "credentials are sent without TLS: who listens on the way can read them, and "
                    "take every lock",
                    "let the servers have a port with TLS (secureClientPort), and use --tls");
      case Security::tls: return ok("tls", {}, "connections are by TLS, and servers are verified");
    }
  }

  void judge_leader() {
    std::vector<std::string> leaders;
    std::size_t standalone = 0;
    std::size_t silent = 0;
    for (const ServerFacts& server : facts_.servers) {
      const auto report = server.srvr ? parse_srvr(server.srvr.text) : std::nullopt;
      if (!report || report->mode.empty()) {
        ++silent;
      } else if (report->mode == "leader") {
        leaders.push_back(to_string(server.address));
      } else if (report->mode == "standalone") {
        ++standalone;
      }
    }
    if (standalone > 0 && facts_.servers.size() > 1) {
      return fail("leader", {},
                  std::to_string(standalone) + " of " + std::to_string(facts_.servers.size()) +
                      " servers stand alone: two processes could hold a lock, each at another "
                      "server",
                  "name servers of one ensemble only, or make them one (server.N=... in each "
                  "zoo.cfg)");
    }
    if (leaders.size() > 1) {
      return fail(
          "leader", {},
          "several lead: " + leaders[0] + ", " + leaders[1] + "; or they have just changed places",
          "run this again; if it stays so, they are of several ensembles: name servers of "
          "one only");
    }
    if (standalone == 1) {
      return warn("leader", {}, "one server, which stands alone: while it is away nobody acquires",
                  "run an ensemble of three or five, for one server is for tests");
    }
    if (leaders.size() == 1) return ok("leader", {}, leaders[0] + " leads");
    if (silent == facts_.servers.size()) {
      return warn("leader", {}, "nobody told who leads", "see the servers above");
    }
    warn("leader", {}, "none of the servers named here leads",
         "well if the leader is one that clients shall not use; otherwise name it, too");
  }

  void judge_versions() {
    std::set<std::string> versions;
    for (const ServerFacts& server : facts_.servers) {
      const auto report = server.srvr ? parse_srvr(server.srvr.text) : std::nullopt;
      if (report && !report->version.empty()) versions.insert(printable(report->version));
    }
    if (versions.size() < 2) return;
    std::string all;
    for (const std::string& version : versions) all += (all.empty() ? "" : ", ") + version;
    warn("versions", {}, "the servers differ: " + all, "finish the upgrade");
  }

  void judge_extended_types() {
    if (!facts_.extended_types) return;
    if (*facts_.extended_types) return ok("extended-types", {}, "nodes with a TTL can be created");
    warn("extended-types", {}, "nodes with a TTL are refused; locks and elections need none",
         "if you use them: -Dzookeeper.extendedTypesEnabled=true for the Java machine of every "
         "server");
  }

  void judge_clock() {
    if (facts_.clock) {
      const nanoseconds ahead = facts_.clock->ahead;
      const nanoseconds apart = ahead < 0ns ? -ahead : ahead;
      const std::string known = "to within " + text_of(facts_.clock->uncertainty);
      if (apart > facts_.clock->uncertainty + 1s) {
        warn("clock", {},
             "the leader's clock is " + text_of(apart) + (ahead < 0ns ? " behind" : " ahead of") +
                 " this machine's; ages that inspect shows are wrong by that; locks do not depend "
                 "on it",
             "set the clocks by NTP");
      } else {
        ok("clock", {}, "the leader's clock and this machine's agree, " + known);
      }
      judge_write_time(facts_.clock->write_time);
    } else if (!facts_.ensemble_error && !facts_.writes_left_out) {
      warn("clock", {}, "cannot be compared: nothing may be created here",
           facts_.path_was_given ? "" : "give a path where locks are");
    }
    if (facts_.suspended < 1s) return;
    warn("suspended", {},
         "this machine has slept for " + text_of(facts_.suspended) + " since it was started",
         "whoever holds a lock then loses it, and learns of it on waking: check fencing tokens, or "
         "keep the machine from sleeping");
  }

  void judge_write_time(nanoseconds time) {
    if (time > facts_.session_timeout / 4) {
      warn("write", {},
           "took " + text_of(time) +
               "; a connection whose beat takes a quarter of the session "
               "timeout is given up",
           "give the servers' transaction log a disk of its own, or ask for a longer session "
           "timeout");
    } else {
      ok("write", {}, "took " + text_of(time));
    }
  }

  const Facts& facts_;
};

}  // namespace

std::string_view to_string(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::ok: return "OK";
    case Verdict::warn: return "WARN";
    case Verdict::fail: return "FAIL";
  }
  return "";
}

std::vector<Finding> diagnose(const Facts& facts) { return Diagnosis{facts}.run(); }

std::vector<std::string> lines_of(const Finding& finding) {
  std::string line{to_string(finding.verdict)};
  line.resize(6, ' ');
  line += finding.check;
  if (!finding.subject.empty()) line += " " + finding.subject;
  std::vector<std::string> lines{line + ": " + finding.text};
  if (!finding.advice.empty()) lines.push_back("      -> " + finding.advice);
  return lines;
}

Json json_of(const std::vector<Finding>& findings) {
  Json json{{"failed", std::ranges::count(findings, Verdict::fail, &Finding::verdict)},
            {"warned", std::ranges::count(findings, Verdict::warn, &Finding::verdict)},
            {"findings", Json::array()}};
  for (const Finding& finding : findings) {
    json["findings"].push_back({{"verdict", to_string(finding.verdict)},
                                {"check", finding.check},
                                {"subject", finding.subject},
                                {"text", finding.text},
                                {"advice", finding.advice}});
  }
  return json;
}

}  // namespace custodian::cli
