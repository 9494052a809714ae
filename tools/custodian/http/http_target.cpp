#include "http/http_target.hpp"

#include <charconv>

namespace custodian::cli {
namespace {

/// Resolves escapes such as "%20"; nothing if an escape is malformed, or stands for a NUL.
std::optional<std::string> without_escapes(std::string_view text) {
  std::string resolved;
  for (std::size_t i = 0; i != text.size(); ++i) {
    if (text[i] != '%') {
      resolved += text[i];
      continue;
    }
    unsigned char byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (error != std::errc{} || digits.size() != 2 || end != digits.data() + 2) return std::nullopt;
    resolved += static_cast<char>(byte);
    i += 2;
  }
  if (resolved.find('\0') != std::string::npos) return std::nullopt;
  return resolved;
}

}  // namespace

std::optional<HttpTarget> parse_target(std::string_view text) {
  if (!text.starts_with('/')) return std::nullopt;
  const auto mark = text.find('?');
  auto path = without_escapes(text.substr(0, mark));
  if (!path) return std::nullopt;
  HttpTarget target{.path = std::move(*path)};
  if (mark != std::string_view::npos) target.query = text.substr(mark + 1);
  return target;
}

}  // namespace custodian::cli
