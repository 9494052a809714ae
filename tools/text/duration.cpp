#include "text/duration.hpp"

#include <array>
#include <cstdint>
#include <stdexcept>

#include "text/printable_text.hpp"

namespace custodian::cli {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};

constexpr std::array<Unit, 7> units{{{"d", 86'400'000'000'000},
                                     {"h", 3'600'000'000'000},
                                     {"m", 60'000'000'000},
                                     {"s", 1'000'000'000},
                                     {"ms", 1'000'000},
                                     {"us", 1'000},
                                     {"ns", 1}}};

constexpr std::int64_t longest = std::int64_t{100} * 365 * 86'400'000'000'000;

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  std::string message{"'"};
  message.append(printable(text))
      .append("' is no duration: ")
      .append(why)
      .append("; write 500ms, 30s, 5m or 1h30m");
  throw std::invalid_argument{message};
}

bool is_digit(char character) { return character >= '0' && character <= '9'; }

/// Removes the leading characters of one kind from the text, and returns them.
template <typename Predicate>
std::string_view take(std::string_view& text, Predicate is_of_kind) {
  std::size_t length = 0;
  while (length < text.size() && is_of_kind(text[length])) ++length;
  const std::string_view taken = text.substr(0, length);
  text.remove_prefix(length);
  return taken;
}

/// The nanoseconds of one part, including its fraction; digits below a nanosecond are dropped. The
/// result is negative if the duration is too long.
std::int64_t amount(std::string_view whole, std::string_view fraction, std::int64_t unit) {
  const std::int64_t most = longest / unit;
  std::int64_t value = 0;
  for (const char digit : whole) {
    if (value > (most - (digit - '0')) / 10) return -1;
    value = value * 10 + (digit - '0');
  }
  std::int64_t sum = value * unit;
  std::int64_t part = unit;
  for (const char digit : fraction) {
    // The divisions round down, which drops what is below a nanosecond.
    sum += part * (digit - '0') / 10;
    part /= 10;
  }
  return sum;
}

}  // namespace

std::chrono::nanoseconds parse_duration(std::string_view text) {
  if (text.empty()) refuse(text, "it is empty");
  if (text == "0") return std::chrono::nanoseconds{0};
  if (text.front() == '-') refuse(text, "it is negative");
  std::int64_t sum = 0;
  std::size_t next_unit = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view whole = take(rest, is_digit);
    std::string_view fraction;
    if (!rest.empty() && rest.front() == '.') {
      rest.remove_prefix(1);
      fraction = take(rest, is_digit);
      if (fraction.empty()) refuse(text, "digits are missing behind the point");
    }
    if (whole.empty()) refuse(text, "a number is missing");
    const std::string_view name =
        take(rest, [](char character) { return !is_digit(character) && character != '.'; });
    if (name.empty()) refuse(text, "it has no unit");
    std::size_t unit = 0;
    while (unit < units.size() && units[unit].name != name) ++unit;
    if (unit == units.size()) refuse(text, "its units are d, h, m, s, ms, us and ns");
    if (unit < next_unit) refuse(text, "the greater unit comes first, and each once");
    next_unit = unit + 1;
    const std::int64_t part = amount(whole, fraction, units[unit].nanoseconds);
    if (part < 0 || part > longest - sum) refuse(text, "it is longer than 100 years");
    sum += part;
  }
  return std::chrono::nanoseconds{sum};
}

std::string format_duration(std::chrono::nanoseconds duration) {
  if (duration == duration.zero()) return "0s";
  const bool is_negative = duration < duration.zero();
  std::string text{is_negative ? "-" : ""};
  // `rest` is unsigned, since the smallest duration has no positive counterpart.
  auto rest = static_cast<std::uint64_t>(duration.count());
  if (is_negative) rest = 0 - rest;
  constexpr std::uint64_t second = 1'000'000'000;
  // Days, hours, minutes and seconds are whole numbers. A rest below a second becomes a fraction of
  // a second, or has a unit of its own.
  if (rest < second) {
    for (const Unit& unit : units) {
      const auto size = static_cast<std::uint64_t>(unit.nanoseconds);
      if (rest < size || rest % size != 0) continue;
      return text.append(std::to_string(rest / size)).append(unit.name);
    }
  }
  for (const Unit& unit : units) {
    const auto size = static_cast<std::uint64_t>(unit.nanoseconds);
    if (size < second) break;
    const std::uint64_t count = rest / size;
    rest %= size;
    const bool fraction = size == second && rest != 0;
    if (count == 0 && !fraction) continue;
    text.append(std::to_string(count));
    if (fraction) {
      std::string digits = std::to_string(second + rest).substr(1);
      digits.erase(digits.find_last_not_of('0') + 1);
      text.append(".").append(digits);
    }
    text.append(unit.name);
  }
  return text;
}

}  // namespace custodian::cli
