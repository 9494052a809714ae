#pragma once

/// \file
/// custodian latch PATH ACTION arrives at a count-down latch, waits until it is open, counts the
/// arrivals that are missing, or removes it.

#include <CLI/CLI.hpp>

#include "options/invocation.hpp"

namespace custodian::cli {

void add_latch_command(CLI::App& app, Invocation& invocation);

}  // namespace custodian::cli
