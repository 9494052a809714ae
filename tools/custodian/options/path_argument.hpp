#pragma once

/// \file
/// A path argument is the argument PATH of a subcommand: the path of a recipe.

#include <CLI/CLI.hpp>
#include <string>

namespace custodian::cli {

/// Adds the argument PATH, which is optional. A path that is not absolute is refused as a usage
/// error. `path` must outlive the parsing.
CLI::Option* add_path_argument(CLI::App& app, std::string& path, const std::string& description);

}  // namespace custodian::cli
