#pragma once

/// \file
/// custodian observe PATH: who leads, as a stream.

#include <CLI/CLI.hpp>

#include "options/invocation.hpp"

namespace custodian::cli {

void add_observe_command(CLI::App& app, Invocation& invocation);

}  // namespace custodian::cli
