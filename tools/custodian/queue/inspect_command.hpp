#pragma once

/// \file
/// custodian inspect PATH shows the holder and the waiters.

#include <CLI/CLI.hpp>

#include "options/invocation.hpp"

namespace custodian::cli {

void add_inspect_command(CLI::App& app, Invocation& invocation);

}  // namespace custodian::cli
