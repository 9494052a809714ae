/// \file
/// Durations on the command line.

#include "text/duration.hpp"

#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>

#include "fuzz.hpp"
#include "session/server_time.hpp"
#include "targets.hpp"
#include "text/time_text.hpp"

namespace custodian::fuzz {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds longest = std::chrono::hours{24 * 365 * 100};

std::optional<nanoseconds> parsed(std::string_view text) {
  try {
    return cli::parse_duration(text);
  } catch (const std::invalid_argument& error) {
    const std::string_view message{error.what()};
    require(is_one_line(message), "a refusal is one line");
    require(message.find("is no duration: ") != message.npos, "a refusal says why");
    return std::nullopt;
  }
}

/// The value of an accepted text in nanoseconds, in floating point, so that fractions of a
/// nanosecond are included.
long double meaning_of(const std::string& text) {
  static const std::map<std::string, long double> units{
      {"d", 86400e9L}, {"h", 3600e9L}, {"m", 60e9L}, {"s", 1e9L},
      {"ms", 1e6L},    {"us", 1e3L},   {"ns", 1}};
  long double sum = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto unit = text.find_first_not_of("0123456789.", at);
    const auto end = std::min(text.find_first_of("0123456789.", unit), text.size());
    sum += std::stold(text.substr(at, unit - at)) * units.at(text.substr(unit, end - unit));
    at = end;
  }
  return sum;
}

void check_text(std::string_view input) {
  const auto accepted = parsed(input);
  if (!accepted) return;
  require(nanoseconds::zero() <= *accepted && *accepted <= longest, "within what is allowed");
  require(parsed(cli::format_duration(*accepted)) == accepted,
          "what is written is read as the same");
  if (input == "0") return;
  // The parser rounds each part down.
  constexpr auto most_parts = 7.0L;
  const long double difference =
      meaning_of(std::string{input}) - static_cast<long double>(accepted->count());
  require(difference > -1 && difference < most_parts + 1, "it means what it says");
}

void check_value(nanoseconds value) {
  const std::string text = cli::format_duration(value);
  require(is_one_line(text), "every duration can be written");
  require(is_one_line(cli::age_text(value)), "every age can be written");
  const bool is_readable = value >= value.zero() && value <= longest;
  require(parsed(text) == (is_readable ? std::optional{value} : std::nullopt),
          "what is written is read as the same, within what is allowed");

  // The same value is also formatted as a time of a server.
  const auto time = detail::to_time(value.count());
  require(cli::iso_time(time).size() == std::strlen("2026-11-22T04:00:01.250Z"),
          "every time can be written");
  require(is_one_line(cli::plain_time(time)), "every time can be written, for people, too");
}

}  // namespace

void duration(std::string_view input) {
  check_text(input);
  // The first bytes of the input are also read as a number.
  std::int64_t number = 0;
  std::memcpy(&number, input.data(), std::min(input.size(), sizeof number));
  check_value(nanoseconds{number});
}

}  // namespace custodian::fuzz
