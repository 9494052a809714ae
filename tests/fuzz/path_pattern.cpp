/// \file
/// The first line is a path pattern, the others are values: no value may lead to another place.

#include <algorithm>

#include "base/paths.hpp"
#include "custodian/error.hpp"
#include "custodian/locks/path_of.hpp"
#include "fuzz.hpp"
#include "targets.hpp"

namespace custodian::fuzz {
namespace {

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  require(digit >= 'A' && digit <= 'F', "an escape has two digits");
  return digit - 'A' + 10;
}

std::string unescaped(std::string_view text) {
  std::string value;
  while (!text.empty()) {
    if (text.front() != '%') {
      value += text.front();
      text.remove_prefix(1);
      continue;
    }
    require(text.size() >= 3, "an escape has two digits");
    value += static_cast<char>(hex_value(text[1]) * 16 + hex_value(text[2]));
    text.remove_prefix(3);
  }
  return value;
}

/// The value that stands in the place of the pattern's {}.
std::string value_in(std::string_view part, std::string_view pattern) {
  const auto at = pattern.find("{}");
  const std::string_view behind = pattern.substr(at + 2);
  require(part.size() >= at + behind.size() && part.starts_with(pattern.substr(0, at)) &&
              part.ends_with(behind),
          "what is around a value stays");
  return unescaped(part.substr(at, part.size() - at - behind.size()));
}

}  // namespace

void path_pattern(std::string_view input) {
  const std::string pattern{take_line(input)};
  const auto values = input.empty() ? std::vector<std::string>{} : split(input, '\n');
  std::string filled;
  try {
    filled = recipes_detail::fill_path(pattern, values);
  } catch (const Error& error) {
    require(error.code() == Errc::invalid_argument, "a refusal is the caller's mistake");
    require(is_one_line(error.what()), "a refusal is one line");
    return;
  }

  const auto parts = split(filled, '/');
  auto patterns = split(pattern, '/');
  require(parts.size() == patterns.size(), "no value adds a level, or takes one away");
  std::size_t used = 0;
  std::string plain;
  for (std::size_t i = 0; i != parts.size(); ++i) {
    if (i != 0) plain += '/';
    if (patterns[i].find("{}") == std::string::npos) {
      require(parts[i] == patterns[i], "what is no value stays");
      plain += parts[i];
      continue;
    }
    require(used < values.size() && value_in(parts[i], patterns[i]) == values[used],
            "each value can be read again");
    ++used;
    plain += patterns[i].replace(patterns[i].find("{}"), 2, "x");
  }
  require(used == values.size(), "each value is in the path");
  // "/{}" gives a valid path with any value except "zookeeper", which is refused.
  require(detail::path_fault(plain).has_value() == detail::path_fault(filled).has_value(),
          "no value makes a bad path of a good pattern");
}

}  // namespace custodian::fuzz
