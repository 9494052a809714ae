#pragma once

/// \file
/// Token is a fencing token as a resource outside of the library sees it. It has its own code for
/// parsing and comparing, so that the library's code is tested, too. Pure.

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace custodian::chaos {

struct Token {
  std::int64_t epoch = 0;
  std::int64_t value = 0;  ///< identifies the node
  std::int64_t grant = 0;  ///< how often the lock had been passed on with that node

  friend auto operator<=>(const Token&, const Token&) = default;
};

/// Parses "value", "epoch:value" or "epoch:value:grant". Returns nothing for any other text.
[[nodiscard]] std::optional<Token> parse_token(std::string_view text);
[[nodiscard]] std::string to_string(const Token& token);

/// The first token that can be granted with this token's node.
[[nodiscard]] constexpr Token first_of_node(const Token& token) noexcept {
  return {.epoch = token.epoch, .value = token.value};
}
/// A token that is greater than all that can be granted with this token's node.
[[nodiscard]] constexpr Token last_of_node(const Token& token) noexcept {
  return {token.epoch, token.value, std::numeric_limits<std::int64_t>::max()};
}
[[nodiscard]] constexpr bool share_node(const Token& one, const Token& other) noexcept {
  return first_of_node(one) == first_of_node(other);
}

}  // namespace custodian::chaos
