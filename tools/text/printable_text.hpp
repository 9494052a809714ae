#pragma once

/// \file
/// Printable text is text from elsewhere (nodes' names, their data, servers' answers) made safe for
/// a terminal. Pure.

#include <cstddef>
#include <string>
#include <string_view>

namespace custodian::cli {

/// One line that cannot control a terminal, by the library's own rules (detail::in_one_line()). The
/// backslash is escaped, too, so that no escape can be forged.
[[nodiscard]] std::string printable(std::string_view text);

/// The columns that printable text takes on a terminal.
[[nodiscard]] std::size_t width_of(std::string_view text);

/// Shortens printable text to at most `columns`; an ellipsis stands for the rest.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t columns);

/// Whether the whole text is valid UTF-8; control characters are allowed.
[[nodiscard]] bool is_utf8(std::string_view text);

/// Two hexadecimal digits for each byte.
[[nodiscard]] std::string to_hex(std::string_view bytes);

}  // namespace custodian::cli
