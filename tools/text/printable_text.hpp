#pragma once

/// \file
/// Printable text is text from elsewhere (nodes' names, their data, servers' answers) made safe for
/// a terminal. Pure.

#include <cstddef>
#include <string>
#include <string_view>

namespace custodian::cli {

/// One line that cannot command a terminal, by the library's own rules (detail::in_one_line());
/// with the backslash escaped besides, so that no escape can be forged.
[[nodiscard]] std::string printable(std::string_view text);

/// The columns that printable text takes on a terminal.
[[nodiscard]] std::size_t width_of(std::string_view text);

/// Shortens printable text to so many columns: an ellipsis stands for the rest.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t columns);

/// Whether it is UTF-8 all through, control characters included.
[[nodiscard]] bool is_utf8(std::string_view text);

/// Two digits a byte.
[[nodiscard]] std::string to_hex(std::string_view bytes);

}  // namespace custodian::cli
