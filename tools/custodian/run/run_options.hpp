#pragma once

/// \file
/// RunOptions are the options of all subcommands that run a command.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "custodian/client_options.hpp"
#include "custodian/locks/acquire.hpp"
#include "options/node_acl.hpp"
#include "run/course.hpp"
#include "run/leader_page.hpp"

namespace custodian::cli {

/// What happens to the command when a client asks for the release (custodian revoke).
enum class OnRevoke : std::uint8_t {
  ignore,     ///< nothing
  terminate,  ///< SIGTERM asks it to end; the lock is released when it has ended
};

/// What the runner notifies a service manager of (--notify-systemd).
struct ServiceTerms {
  bool notifies = false;
  /// True: the service is ready as soon as it waits, and a server has answered. False: when the
  /// command runs.
  bool is_ready_while_waiting = false;
  std::string waits = "waits for";
  std::string has = "holds";
};

struct RunOptions {
  std::string path{};
  /// The time limit for the lock, and for the servers; nothing means no limit. With zero the lock
  /// is acquired only if it is free; the client still has enough time to find that out.
  std::optional<std::chrono::nanoseconds> wait{};
  std::optional<std::chrono::nanoseconds> hold_at_most{};
  /// The lock is held at least this long after its grant, even if the command has ended by then.
  std::optional<std::chrono::nanoseconds> hold_at_least{};
  std::string identity{};
  OnLost on_lost = OnLost::terminate;
  OnRevoke on_revoke = OnRevoke::ignore;
  NodeAcl acl = NodeAcl::by_credentials;
  std::chrono::milliseconds touch_interval = ClientOptions{}.touch_interval;
  Repeat repeat = Repeat::never;
  ServiceTerms service{};
  /// Where a page says whether this candidate leads (elect --http).
  LeaderPageOptions page{};
  /// Whether an Outcome may have a Conclude.
  Conclusion conclusion = Conclusion::none;
};

/// Adds the argument PATH.
void add_path(CLI::App& subcommand, RunOptions& options, const std::string& description);
/// Adds --wait and --no-wait.
void add_wait_options(CLI::App& subcommand, RunOptions& options);
void add_hold_at_most_option(CLI::App& subcommand, RunOptions& options);
/// Adds --hold-at-least.
void add_hold_at_least_option(CLI::App& subcommand, RunOptions& options);
/// Throws CLI::ValidationError if --hold-at-least is longer than --hold-at-most.
void check_hold_times(const RunOptions& options);
void add_identity_option(CLI::App& subcommand, RunOptions& options);
/// Says whether --on-lost accepts `ignore`; not every subcommand does.
enum class MayIgnoreLoss : std::uint8_t { no, yes };
void add_on_lost_option(CLI::App& subcommand, RunOptions& options, MayIgnoreLoss may_ignore);

/// Adds --on-revoke.
void add_on_revoke_option(CLI::App& subcommand, RunOptions& options);
/// Adds --acl and --touch-interval.
void add_session_options(CLI::App& subcommand, RunOptions& options);

/// Adds --notify-systemd. `when`: when the service is ready.
void add_service_option(CLI::App& subcommand, RunOptions& options, const std::string& when);

/// The end of the help of every subcommand that runs a command.
[[nodiscard]] std::string run_footer(const std::string& example);

}  // namespace custodian::cli
