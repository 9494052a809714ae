#pragma once

/// \file
/// HttpTarget is what a request asks for: "/api/locks/a%20b?x" is the path "/api/locks/a b". Pure.

#include <optional>
#include <string>
#include <string_view>

namespace custodian::cli {

struct HttpTarget {
  /// Begins with a slash; its escapes are resolved.
  std::string path{};
  /// The text behind the question mark, as it was sent.
  std::string query{};

  friend bool operator==(const HttpTarget&, const HttpTarget&) = default;
};

/// Parses a target. Nothing if the text is an absolute URL, or has a malformed escape or one that
/// stands for a NUL.
[[nodiscard]] std::optional<HttpTarget> parse_target(std::string_view text);

}  // namespace custodian::cli
