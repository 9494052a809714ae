#include "token.hpp"

#include <charconv>
#include <system_error>
#include <vector>

namespace custodian::chaos {
namespace {

/// Parses the whole text as a number.
std::optional<std::int64_t> parse_number(std::string_view text) {
  // from_chars() would accept "-0".
  if (text.starts_with('-')) return std::nullopt;
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return number;
}

}  // namespace

std::optional<Token> parse_token(std::string_view text) {
  std::vector<std::int64_t> parts;
  for (bool more = true; more;) {
    const auto colon = text.find(':');
    const auto part = parse_number(text.substr(0, colon));
    if (!part) return std::nullopt;
    parts.push_back(*part);
    more = colon != std::string_view::npos;
    if (more) text.remove_prefix(colon + 1);
  }
  switch (parts.size()) {
    case 1: return Token{.value = parts[0]};
    case 2: return Token{.epoch = parts[0], .value = parts[1]};
    case 3: return Token{.epoch = parts[0], .value = parts[1], .grant = parts[2]};
    default: return std::nullopt;
  }
}

std::string to_string(const Token& token) {
  std::string text = std::to_string(token.value);
  if (token.epoch != 0 || token.grant != 0) text.insert(0, std::to_string(token.epoch) + ":");
  if (token.grant != 0) text.append(1, ':').append(std::to_string(token.grant));
  return text;
}

}  // namespace custodian::chaos
