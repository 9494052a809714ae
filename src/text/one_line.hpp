#pragma once

/// \file
/// one_line.hpp makes text from elsewhere (nodes' names and data, servers' words, a user's input)
/// safe for a message, a log or a terminal. Pure. The library and the command share it. It has a
/// folder of its own, so that the command sees nothing else of the library's internals.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace custodian::detail {

/// A character of UTF-8, and how many bytes it takes.
struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;
};

/// The first character of `text`, which must not be empty; nothing if `text` does not begin with a
/// valid UTF-8 character in its shortest form.
[[nodiscard]] std::optional<Character> first_character(std::string_view text);

/// Whether a character commands a terminal, ends a line, turns the direction of writing, or cannot
/// be seen: the control characters (C0 and C1), Unicode's format characters, its line and paragraph
/// separators, fillers, tags, and noncharacters.
[[nodiscard]] bool is_unprintable(char32_t code) noexcept;

/// One line of UTF-8 that cannot command a terminal. Unprintable characters, and bytes that are not
/// UTF-8, are written as escapes ("\n", "\x1b", "\u{202e}"); letters of every language stay. The
/// backslash stays, too, so that text that was escaped before is not escaped again.
[[nodiscard]] std::string in_one_line(std::string_view text);

}  // namespace custodian::detail
