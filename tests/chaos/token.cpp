#include "token.hpp"

#include <charconv>
#include <system_error>

namespace custodian::chaos {
namespace {

/// All of it.
std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::optional<Token> parse_token(std::string_view text) {
  std::string_view epoch = "0";
  std::string_view grant = "0";
  if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    epoch = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  if (const auto dot = text.find('.'); dot != std::string_view::npos) {
    grant = text.substr(dot + 1);
    text = text.substr(0, dot);
  }
  const auto epochs = parse_number(epoch);
  const auto value = parse_number(text);
  const auto grants = parse_number(grant);
  if (!epochs || !value || !grants) return std::nullopt;
  return Token{*epochs, *value, *grants};
}

std::string to_string(const Token& token) {
  std::string text = std::to_string(token.value);
  if (token.epoch != 0) text.insert(0, std::to_string(token.epoch) + ":");
  if (token.grant != 0) text.append(1, '.').append(std::to_string(token.grant));
  return text;
}

}  // namespace custodian::chaos
