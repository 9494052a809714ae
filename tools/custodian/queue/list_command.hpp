#pragma once

/// \file
/// custodian list [PATH] shows all locks at and below a path, and waits that cannot end.

#include <CLI/CLI.hpp>

#include "options/invocation.hpp"

namespace custodian::cli {

void add_list_command(CLI::App& app, Invocation& invocation);

}  // namespace custodian::cli
