#pragma once

/// \file
/// What the commands that look, ask and break have in common.

#include <functional>

#include "custodian/client.hpp"
#include "options/global_options.hpp"

namespace custodian::cli {

/// A subcommand of this group runs no other.
inline constexpr const char* looking_group = "Commands that look, ask and break";

enum class Log { as_asked, none };

/// A client that holds nothing. Throws UsageError if its options are wrong.
[[nodiscard]] Client connect(const GlobalOptions& options, Log log = Log::as_asked);

/// Does the work, and says what went wrong, if anything: the exit status is that of `work`, or
/// tells mistakes, silent servers and missing permission from each other. UsageError passes
/// through.
[[nodiscard]] int with_errors_said(const std::function<int()>& work);

}  // namespace custodian::cli
