/// \file
/// Fencing tokens in their text form, as a resource outside of the library reads them: two lines,
/// two tokens.

#include "chaos/token.hpp"

#include <algorithm>

#include "custodian/lease/fencing_token.hpp"
#include "fuzz.hpp"
#include "targets.hpp"

namespace custodian::fuzz {
namespace {

FencingToken library_token(const chaos::Token& token) {
  return {.epoch = token.epoch, .value = token.value, .grant = token.grant};
}

/// Returns whether the text is a number of 63 bits, as a second parser reads it.
bool is_number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos) return false;
  const std::string digits = text.substr(std::min(text.find_first_not_of('0'), text.size()));
  constexpr std::string_view greatest = "9223372036854775807";
  return digits.size() < greatest.size() ||
         (digits.size() == greatest.size() && digits <= greatest);
}

}  // namespace

void token(std::string_view input) {
  const std::string_view line = take_line(input);
  const auto parts = split(line, ':');
  const auto token = chaos::parse_token(line);
  require(token.has_value() == (parts.size() <= 3 && std::ranges::all_of(parts, is_number)),
          "a token is one to three numbers, and nothing else is one");
  if (!token) return;

  const std::string text = to_string(*token);
  require(chaos::parse_token(text) == token, "what is written is read as the same");
  require(text == to_string(library_token(*token)), "a resource writes it as the library does");

  const auto other = chaos::parse_token(take_line(input));
  if (!other) return;
  require((*token <=> *other) == (library_token(*token) <=> library_token(*other)),
          "a resource orders tokens as the library does");
  if (chaos::share_node(*token, *other)) {
    require(chaos::first_of_node(*token) <= *other && *other <= chaos::last_of_node(*token),
            "tokens of a node lie between its first and its last");
  }
}

}  // namespace custodian::fuzz
