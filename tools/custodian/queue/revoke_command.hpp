#pragma once

/// \file
/// custodian revoke PATH asks the holders to release.

#include <CLI/CLI.hpp>

#include "options/invocation.hpp"

namespace custodian::cli {

void add_revoke_command(CLI::App& app, Invocation& invocation);

}  // namespace custodian::cli
