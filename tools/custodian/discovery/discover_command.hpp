#pragma once

/// \file
/// custodian discover BASE [NAME] shows the services below a path, or the instances of one.

#include <CLI/CLI.hpp>

#include "options/invocation.hpp"

namespace custodian::cli {

void add_discover_command(CLI::App& app, Invocation& invocation);

}  // namespace custodian::cli
