#pragma once

/// \file
/// BearerToken is the secret that a request shows in its header Authorization.

#include <string>
#include <string_view>

namespace custodian::cli {

/// Threads: any.
class BearerToken {
 public:
  /// The shortest token that is accepted, in characters.
  static constexpr std::size_t shortest = 16;

  /// Throws UsageError if the token is too short, or has characters that no header can have.
  explicit BearerToken(std::string token);

  /// Whether a header is "Bearer <this token>". Takes the same time for every wrong token of the
  /// same length.
  [[nodiscard]] bool is_shown_by(std::string_view authorization) const;

 private:
  std::string token_;
};

/// The token in the first line of a file. Throws UsageError if there is none.
[[nodiscard]] BearerToken read_token_file(const std::string& file);

}  // namespace custodian::cli
