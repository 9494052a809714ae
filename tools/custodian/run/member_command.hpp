#pragma once

/// \file
/// `custodian member PATH ... -- COMMAND...`

#include <CLI/CLI.hpp>

#include "options/invocation.hpp"

namespace custodian::cli {

/// Adds the subcommand; `invocation` must outlive the parsing.
void add_member_command(CLI::App& app, Invocation& invocation);

}  // namespace custodian::cli
