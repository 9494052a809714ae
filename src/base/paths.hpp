#pragma once

/// \file
/// Paths of znodes: the rules that a path must keep, and the prefix of a client's paths.
/// Pure functions on text; nothing here asks a server. Safe to use from any thread.

#include <optional>
#include <string>
#include <string_view>

#include "custodian/authoring/path.hpp"

namespace custodian::detail {

enum class PathKind {
  /// The path of a node as it is.
  plain,
  /// The server appends a sequence number, so the path may end in '/' or in a dot.
  sequential_prefix,
};

/// The first rule that `path` breaks and the byte at which it does; nothing if it breaks none.
[[nodiscard]] std::optional<std::string> path_fault(std::string_view path,
                                                    PathKind kind = PathKind::plain);

/// Throws `Error` (`Errc::invalid_argument`, naming `operation`, `path` and the rule) unless the
/// path is one that a ZooKeeper server accepts.
void validate_path(std::string_view operation, std::string_view path,
                   PathKind kind = PathKind::plain);

/// The namespace in its canonical form: empty if it adds nothing, or else an absolute path.
[[nodiscard]] std::string absolute_namespace(std::string_view name_space);
/// The first rule that a namespace in its canonical form breaks; nothing if it breaks none.
[[nodiscard]] std::optional<std::string> namespace_fault(std::string_view absolute);

/// The prefix of a client's paths on the server: the chroot of the connection string, then the
/// namespace. A value.
///
/// Custodian adds the prefix itself: the C client's handling of a chroot corrupts memory when a
/// transaction fails, and creates a sequential child of "/" beside the chroot, not below it.
class PathPrefix {
 public:
  /// The prefix that adds nothing.
  PathPrefix() = default;
  /// Each part is a valid path, or empty; "/" adds nothing.
  explicit PathPrefix(std::string_view chroot, std::string_view name_space = {});

  /// Turns a client's path into the server's.
  [[nodiscard]] std::string add(std::string_view path, PathKind kind = PathKind::plain) const;

  /// Turns a server's path into the client's; nothing if that path is neither the prefix nor below
  /// it.
  [[nodiscard]] std::optional<std::string> strip(std::string_view path) const;

  /// The server's path of the client's root; "/" if nothing is added.
  [[nodiscard]] std::string root() const;

  friend bool operator==(const PathPrefix&, const PathPrefix&) = default;

 private:
  /// Has no slash at its end, so a prefix that adds nothing is empty and not "/".
  std::string prefix_;
};

}  // namespace custodian::detail
