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

namespace custodian::cli {

/// What becomes of the command when a client asks for the release (custodian revoke).
enum class OnRevoke : std::uint8_t {
  ignore,     ///< nothing
  terminate,  ///< it is asked to end, by SIGTERM; the lock is released when it has ended
};

struct RunOptions {
  std::string path{};
  /// How long to wait for the lock, and for the servers; none: without limit. Zero: it is only
  /// taken if it is free, with enough time to find that out.
  std::optional<std::chrono::nanoseconds> wait{};
  std::optional<std::chrono::nanoseconds> hold_at_most{};
  std::string identity{};
  OnLost on_lost = OnLost::terminate;
  OnRevoke on_revoke = OnRevoke::ignore;
  NodeAcl acl = NodeAcl::by_credentials;
  std::chrono::milliseconds touch_interval = ClientOptions{}.touch_interval;
  Repeat repeat = Repeat::never;
};

/// PATH.
void add_path(CLI::App& subcommand, RunOptions& options, const std::string& description);
/// --wait and --no-wait.
void add_wait_options(CLI::App& subcommand, RunOptions& options);
void add_hold_at_most_option(CLI::App& subcommand, RunOptions& options);
void add_identity_option(CLI::App& subcommand, RunOptions& options);
/// --on-lost; not every subcommand has `ignore`.
enum class MayIgnoreLoss : std::uint8_t { no, yes };
void add_on_lost_option(CLI::App& subcommand, RunOptions& options, MayIgnoreLoss may_ignore);

/// --on-revoke.
void add_on_revoke_option(CLI::App& subcommand, RunOptions& options);
/// --acl and --touch-interval.
void add_session_options(CLI::App& subcommand, RunOptions& options);

/// What every subcommand that runs a command says at the end of its help.
[[nodiscard]] std::string run_footer(const std::string& example);

}  // namespace custodian::cli
