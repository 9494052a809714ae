#pragma once

/// \file
/// The subcommand serve shows all locks in a browser.

#include <CLI/CLI.hpp>

#include "options/invocation.hpp"

namespace custodian::cli {

/// Adds `custodian serve`.
void add_serve_command(CLI::App& app, Invocation& invocation);

}  // namespace custodian::cli
