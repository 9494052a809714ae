#pragma once

/// \file
/// A path argument is the PATH of a recipe.

#include <CLI/CLI.hpp>
#include <string>

namespace custodian::cli {

/// The path of a recipe, not required. One that is not absolute is refused as a mistake in the
/// command line. `path` must outlive the parsing.
CLI::Option* add_path_argument(CLI::App& app, std::string& path, const std::string& description);

}  // namespace custodian::cli
