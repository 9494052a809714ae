#pragma once

/// \file
/// Diagnosis judges whether an ensemble is good for locks, from the facts that were collected about
/// it. Pure: facts in, findings out.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/acl.hpp"
#include "custodian/error.hpp"
#include "servers/server_answers.hpp"
#include "servers/server_words.hpp"
#include "text/json_text.hpp"

namespace custodian::cli {

/// The result of asking for a session.
struct SessionTrial {
  error_code error{};
  /// The timeout that the server granted.
  std::chrono::milliseconds timeout{0};
};

struct ServerFacts {
  ServerAddress address{};
  Answer srvr{};
  Answer conf{};
  Answer cons{};
  /// The fields that the server reports, by a four-letter word or by its admin server.
  ServerConfiguration configuration{};
  /// The session with the requested timeout. It is not tried with a server that does not answer.
  std::optional<SessionTrial> session{};
  /// Sessions with the shortest and the longest timeout that a client can request.
  std::optional<SessionTrial> shortest{};
  std::optional<SessionTrial> longest{};
};

struct PathFacts {
  std::string path{};
  /// The path, or its nearest ancestor that exists; empty if not even "/" (the chroot) exists.
  std::string existing{};
  /// The ACL of `existing`; nothing if the client may not read it.
  std::optional<Acl> acl{};
  error_code list_error{};
  error_code create_error{};
  error_code remove_error{};
};

struct ClockFacts {
  /// The leader's clock minus ours, and the possible error of that difference.
  std::chrono::nanoseconds ahead{0};
  std::chrono::nanoseconds uncertainty{0};
  /// The duration of the write that showed the leader's clock.
  std::chrono::nanoseconds write_time{0};
};

/// The way in which the servers are reached.
enum class Security : std::uint8_t {
  plain,
  plain_with_credentials,  ///< without TLS, so that credentials can be read on the way
  tls,                     ///< over TLS, with verified servers
};

struct Facts {
  std::chrono::milliseconds session_timeout{0};
  std::chrono::milliseconds touch_interval{0};
  std::vector<ServerFacts> servers{};
  Security security = Security::plain;
  /// True if no admin server was asked because that would not be over TLS.
  bool admin_server_left_out = false;
  /// True if nothing was written, see WriteTrials.
  bool writes_left_out = false;
  std::chrono::system_clock::time_point now{};
  /// The error if no server could be asked about the ensemble as a whole.
  error_code ensemble_error{};
  std::optional<bool> extended_types{};
  std::optional<PathFacts> path{};
  bool path_was_given = false;
  std::optional<ClockFacts> clock{};
  /// The time for which this machine has slept since it was started.
  std::chrono::nanoseconds suspended{0};
};

enum class Verdict : std::uint8_t { ok, warn, fail };

struct Finding {
  Verdict verdict = Verdict::ok;
  std::string check{};    ///< the name of the check: "server", "leader", "session", "tick", ...
  std::string subject{};  ///< a server or a path; empty means the whole ensemble
  std::string text{};
  std::string advice{};  ///< what to change, and where; empty if nothing
};

[[nodiscard]] std::string_view to_string(Verdict verdict) noexcept;

[[nodiscard]] std::vector<Finding> diagnose(const Facts& facts);

/// "OK    session zk1:2181: ..." and its advice on a line of its own.
[[nodiscard]] std::vector<std::string> lines_of(const Finding& finding);
/// All findings, with the numbers of failures and warnings.
[[nodiscard]] Json json_of(const std::vector<Finding>& findings);

}  // namespace custodian::cli
