#include "doctor/timing_diagnosis.hpp"

#include "doctor/findings.hpp"
#include "text/duration.hpp"

namespace custodian::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using namespace std::chrono_literals;

std::string advice_on_session(const error_code& error) {
  if (error == ServerErrc::auth_failed) return "the server refuses the credentials: see --auth";
  if (error == ServerErrc::session_closed_require_sasl_auth) {
    return "give credentials (--auth), or for x509 a certificate (--tls-cert); which scheme the "
           "server asks for is enforce.auth.schemes in its zoo.cfg";
  }
  return "see its log; maxClientCnxns limits the connections of one machine";
}

class TimingDiagnosis : Findings {
 public:
  explicit TimingDiagnosis(const Facts& facts) : facts_{facts} {}

  std::vector<Finding> run(const ServerFacts& server) {
    if (server.session) judge_session(server);
    judge_tick(server);
    judge_observer(server);
    return take();
  }

 private:
  void judge_session(const ServerFacts& server) {
    const std::string name = to_string(server.address);
    if (server.session->error) {
      return fail("session", name, "gives no session: " + server.session->error.message(),
                  advice_on_session(server.session->error));
    }
    const milliseconds given = server.session->timeout;
    const milliseconds least = 3 * facts_.touch_interval;
    const std::string limits = limits_of(server);
    if (given < least && facts_.session_timeout < least) {
      return fail("session", name,
                  "the timeout is " + text_of(given) + limits +
                      " as asked for: locks are refused "
                      "below " +
                      text_of(least) + ", three touch intervals",
                  "ask for more (--session-timeout, ClientOptions::session_timeout)");
    }
    if (given < least) {
      return fail("session", name,
                  "the timeout is " + text_of(given) + limits + ": locks are refused below " +
                      text_of(least) +
                      ", three touch intervals, since a holder could not be told "
                      "of a loss in time",
                  "raise maxSessionTimeout in zoo.cfg; or, where all servers have a short "
                  "tickTime, set ClientOptions::touch_interval to three quarters of it");
    }
    if (given != facts_.session_timeout) {
      return warn("session", name,
                  "the timeout is " + text_of(given) + " and not the " +
                      text_of(facts_.session_timeout) + " that were asked for" + limits,
                  given > facts_.session_timeout
                      ? "so long the next one waits for the lock of a crashed process; "
                        "minSessionTimeout in zoo.cfg (two ticks by default) can be lowered"
                      : "a pause that is longer costs the lock; maxSessionTimeout in zoo.cfg "
                        "(twenty ticks by default) can be raised");
    }
    ok("session", name,
       "the timeout is " + text_of(given) + limits + "; a holder is told of a loss " +
           text_of(given / 10) + " before the server can end its session");
  }

  static std::string limits_of(const ServerFacts& server) {
    const auto of = [](const std::optional<milliseconds>& told,
                       const std::optional<SessionTrial>& tried) -> std::optional<milliseconds> {
      if (told) return told;
      if (tried && !tried->error) return tried->timeout;
      return std::nullopt;
    };
    const auto least = of(server.configuration.min_session_timeout, server.shortest);
    const auto most = of(server.configuration.max_session_timeout, server.longest);
    if (!least || !most) return {};
    return " (of " + text_of(*least) + " to " + text_of(*most) + ")";
  }

  /// The tick that the server reports; otherwise half of the shortest timeout that it granted.
  static std::optional<milliseconds> tick_of(const ServerFacts& server) {
    if (server.configuration.tick_time) return server.configuration.tick_time;
    if (server.shortest && !server.shortest->error) return server.shortest->timeout / 2;
    return std::nullopt;
  }

  void judge_tick(const ServerFacts& server) {
    const std::string name = to_string(server.address);
    const std::optional<milliseconds> tick = tick_of(server);
    const bool is_told = server.configuration.tick_time.has_value();
    if (!tick) return;
    const std::string source = is_told ? "" : " (if minSessionTimeout is two ticks, the default)";
    const auto report = server.srvr ? parse_srvr(server.srvr.text) : std::nullopt;
    const bool is_alone = report && report->mode == "standalone";
    const milliseconds touch = facts_.touch_interval;
    const std::string what = "a tick is " + text_of(*tick) + source;
    const std::string advice =
        "set ClientOptions::touch_interval to " + text_of(*tick * 3 / 4) +
        " in every program that uses these servers, and the session timeout to three times that "
        "or more; or lower tickTime in zoo.cfg";
    if (touch * 2 >= *tick * 3 / 2) {
      return ok("tick", name,
                what + "; the touch interval, " + text_of(touch) +
                    ", is more than half of it, with some slack");
    }
    if (is_alone) {
      return warn("tick", name,
                  what + ", long for a touch interval of " + text_of(touch) +
                      ": no harm as long as this server is the only one",
                  advice);
    }
    if (touch * 2 >= *tick) {
      return warn("tick", name,
                  what + ": the touch interval, " + text_of(touch) +
                      ", leaves a slow server little time to tell its leader of a session",
                  advice);
    }
    add(is_told ? Verdict::fail : Verdict::warn, "tick", name,
        what + ": this server tells its leader of a session only every " + text_of(*tick / 2) +
            ", the touch interval is " + text_of(touch) +
            ", and a holder may be told of a loss when another one has the lock already",
        advice);
  }

  /// An observer behind an observer master answers a follower's pings. The follower forwards that
  /// answer with its own answer to the leader's next ping: half a tick later than an observer that
  /// the leader pings itself.
  void judge_observer(const ServerFacts& server) {
    const auto report = server.srvr ? parse_srvr(server.srvr.text) : std::nullopt;
    if (!report || report->mode != "observer") return;
    const std::string name = to_string(server.address);
    const std::optional<milliseconds> tick = tick_of(server);
    const std::string least = tick ? text_of(*tick * 3 / 2) : "one and a half ticks";
    if (tick && facts_.touch_interval >= *tick * 3 / 2) {
      return ok("observer", name,
                "the touch interval, " + text_of(facts_.touch_interval) +
                    ", is long enough for an observer, also behind an observer master");
    }
    warn("observer", name,
         "an observer: behind an observer master (observerMasterPort) it tells the leader of a "
         "session up to a whole tick late, and a touch interval of " +
             text_of(facts_.touch_interval) + " would be too short",
         "if the ensemble has observer masters: ClientOptions::touch_interval of " + least +
             " in every program that uses these servers, and a session timeout of three times "
             "that or more");
  }

  const Facts& facts_;
};

}  // namespace

std::string text_of(nanoseconds duration) {
  if (duration < 1s) return format_duration(std::chrono::round<milliseconds>(duration));
  return format_duration(std::chrono::round<milliseconds>(duration / 100) * 100);
}

std::vector<Finding> diagnose_timing(const ServerFacts& server, const Facts& facts) {
  return TimingDiagnosis{facts}.run(server);
}

}  // namespace custodian::cli
