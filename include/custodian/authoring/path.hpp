#pragma once

/// \file
/// These functions compute paths, for authors of recipes. Each function expects valid paths
/// (`check_path()`), and may be called on any thread.

#include <string>
#include <string_view>

#include "custodian/export.hpp"

namespace custodian {

/// The path of the child `name` of `parent`: "/a/b" for "/a" and "b", and "/b" for "/" and "b".
[[nodiscard]] CUSTODIAN_EXPORT std::string join(std::string_view parent, std::string_view name);

/// The text after the last slash: "b" for "/a/b", and nothing for the root. The result is a view
/// into `path`.
[[nodiscard]] CUSTODIAN_EXPORT std::string_view name_of(std::string_view path);

/// The path of the parent: "/a" for "/a/b", and also for "/a/", the prefix of sequential nodes
/// below "/a". The root is its own parent. The result is a view into `path`.
[[nodiscard]] CUSTODIAN_EXPORT std::string_view parent_of(std::string_view path);

}  // namespace custodian
