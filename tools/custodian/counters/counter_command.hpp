#pragma once

/// \file
/// custodian counter PATH ACTION reads a number on the servers, adds to it, or sets it.

#include <CLI/CLI.hpp>

#include "options/invocation.hpp"

namespace custodian::cli {

void add_counter_command(CLI::App& app, Invocation& invocation);

}  // namespace custodian::cli
