#pragma once

/// \file
/// custodian barrier PATH ACTION sets a barrier, removes it, or waits until it is removed.

#include <CLI/CLI.hpp>

#include "options/invocation.hpp"

namespace custodian::cli {

void add_barrier_command(CLI::App& app, Invocation& invocation);

}  // namespace custodian::cli
