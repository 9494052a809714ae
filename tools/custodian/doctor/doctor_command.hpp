#pragma once

/// \file
/// custodian doctor says whether these servers are good for locks.

#include <CLI/CLI.hpp>

#include "options/invocation.hpp"

namespace custodian::cli {

void add_doctor_command(CLI::App& app, Invocation& invocation);

}  // namespace custodian::cli
