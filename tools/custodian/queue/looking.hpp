#pragma once

/// \file
/// These functions are shared by the commands that look, ask and break.

#include <functional>

#include "custodian/client.hpp"
#include "options/global_options.hpp"

namespace custodian::cli {

/// The group, in the help, of the subcommands that do not run a command.
inline constexpr const char* looking_group = "Commands that look, ask and break";

enum class Log { as_asked, none };

/// Makes a client that holds nothing. Throws UsageError if its options are wrong.
[[nodiscard]] Client connect(const GlobalOptions& options, Log log = Log::as_asked);

/// Runs `work`, prints a message if it throws Error, and returns the exit status: that of `work`,
/// or one for a wrong argument, silent servers or a missing permission. UsageError passes through.
[[nodiscard]] int with_errors_said(const std::function<int()>& work);

}  // namespace custodian::cli
