#pragma once

/// \file
/// These functions are shared by the commands that look, ask and break.

#include <functional>

#include "custodian/client.hpp"
#include "options/global_options.hpp"

namespace custodian::cli {

/// The help's group of the subcommands that do not run a command.
inline constexpr const char* looking_group = "Commands that look, ask and break";

enum class Log { as_asked, none };

/// A client that holds nothing. Throws UsageError if its options are wrong.
[[nodiscard]] Client connect(const GlobalOptions& options, Log log = Log::as_asked);

/// Does the work, and says what went wrong, if anything: the exit status is that of `work`, or
/// distinguishes mistakes, silent servers and missing permission. UsageError passes through.
[[nodiscard]] int with_errors_said(const std::function<int()>& work);

}  // namespace custodian::cli
