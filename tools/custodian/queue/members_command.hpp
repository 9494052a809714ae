#pragma once

/// \file
/// `custodian members PATH` shows the members of a group.

#include <CLI/CLI.hpp>

#include "options/invocation.hpp"

namespace custodian::cli {

/// Adds the subcommand; `invocation` must outlive the parsing.
void add_members_command(CLI::App& app, Invocation& invocation);

}  // namespace custodian::cli
