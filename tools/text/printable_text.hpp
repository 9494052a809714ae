#pragma once

/// \file
/// Printable text is text from elsewhere (nodes' names, their data, servers' answers) made safe for
/// a terminal. Pure.

#include <cstddef>
#include <string>
#include <string_view>

namespace custodian::cli {

/// Makes one line of the text that cannot control a terminal, by the library's own rules
/// (detail::in_one_line()). Escapes the backslash, too, so that no text can forge an escape.
[[nodiscard]] std::string printable(std::string_view text);

/// The columns that printable text takes on a terminal.
[[nodiscard]] std::size_t width_of(std::string_view text);

/// Shortens printable text to at most `columns`; an ellipsis stands for the rest.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t columns);

/// Returns whether the whole text is valid UTF-8. Control characters are allowed.
[[nodiscard]] bool is_utf8(std::string_view text);

/// Formats each byte as two hexadecimal digits.
[[nodiscard]] std::string to_hex(std::string_view bytes);

}  // namespace custodian::cli
