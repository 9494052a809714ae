#include "http/bearer_token.hpp"

#include <algorithm>
#include <fstream>
#include <utility>

#include "options/usage_error.hpp"
#include "text/printable_text.hpp"
#include "trimmed.hpp"

namespace custodian::cli {
namespace {

bool is_visible_ascii(char character) { return character > ' ' && character < '\x7f'; }

/// Compares all characters, whether or not the first ones differ.
bool is_same_secret(std::string_view shown, std::string_view secret) {
  if (shown.size() != secret.size()) return false;
  volatile unsigned char different = 0;
  for (std::size_t i = 0; i != secret.size(); ++i) {
    different = static_cast<unsigned char>(different | (shown[i] ^ secret[i]));
  }
  return different == 0;
}

}  // namespace

BearerToken::BearerToken(std::string token) : token_{std::move(token)} {
  if (token_.size() < shortest || !std::ranges::all_of(token_, is_visible_ascii)) {
    throw UsageError{"a token has " + std::to_string(shortest) +
                     " visible characters of ASCII or more; one is what openssl rand -hex 32 "
                     "prints"};
  }
}

bool BearerToken::is_shown_by(std::string_view authorization) const {
  const auto space = authorization.find(' ');
  if (space == std::string_view::npos) return false;
  const bool is_bearer =
      std::ranges::equal(authorization.substr(0, space), std::string_view{"bearer"},
                         [](char sent, char name) { return (sent | 0x20) == name; });
  return is_bearer && is_same_secret(detail::trimmed(authorization.substr(space)), token_);
}

BearerToken read_token_file(const std::string& file) {
  std::ifstream stream{file};
  std::string line;
  if (!std::getline(stream, line)) {
    throw UsageError{"cannot read a token from the file " + printable(file)};
  }
  return BearerToken{std::string{detail::trimmed(line)}};
}

}  // namespace custodian::cli
