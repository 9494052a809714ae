/// \file
/// Foreign text on its way to a log or a terminal.

#include "base/printable.hpp"

#include "fuzz.hpp"
#include "targets.hpp"
#include "text/printable_text.hpp"

namespace custodian::fuzz {
namespace {

/// Undoes cli::printable() for escaped bytes; characters that it escaped as a whole stay.
std::string unescaped(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    if (text.front() != '\\') {
      bytes += text.front();
      text.remove_prefix(1);
    } else if (text.starts_with("\\x")) {
      bytes += static_cast<char>(std::stoi(std::string{text.substr(2, 2)}, nullptr, 16));
      text.remove_prefix(4);
    } else {
      require(text.size() >= 2, "an escape is whole");
      bytes += text[1] == 'n' ? '\n' : text[1] == 't' ? '\t' : text[1];
      text.remove_prefix(2);
    }
  }
  return bytes;
}

void require_printable(std::string_view shown) {
  while (!shown.empty()) {
    const auto character = detail::first_character(shown);
    require(character.has_value(), "what is shown is UTF-8");
    require(!detail::is_unprintable(character->code), "what is shown commands no terminal");
    shown.remove_prefix(character->bytes);
  }
}

}  // namespace

void printable(std::string_view input) {
  // The library prints the text as part of an error message, and as a line of a log.
  for (const std::string& said : {detail::printable(input), detail::in_one_line(input)}) {
    require(input.empty() || is_one_line(said), "a message is one line");
    require_printable(said);
    require(detail::in_one_line(said) == said, "what is printable stays");
  }

  const std::string shown = cli::printable(input);
  require(input.empty() || is_one_line(shown), "what is shown is one line");
  require_printable(shown);
  require(shown.find("\\u{") != shown.npos || unescaped(shown) == input,
          "what is shown tells what it was");
  require(cli::to_hex(input).size() == 2 * input.size(), "a byte has two digits");

  for (const std::size_t columns : {0U, 1U, 2U, 7U, 40U}) {
    const std::string cut = cli::shortened(shown, columns);
    require(cli::width_of(cut) <= columns, "a text is not wider than asked for");
    require(cli::is_utf8(cut), "no character is cut apart");
  }
  require(cli::shortened(shown, cli::width_of(shown)) == shown, "what fits stays");
}

}  // namespace custodian::fuzz
