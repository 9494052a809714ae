#include "text/time_text.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include "text/duration.hpp"

namespace custodian::cli {
namespace {

using std::chrono::system_clock;

std::string formatted(system_clock::time_point time, const char* format) {
  const std::time_t seconds =
      system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(time));
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &parts)};
}

}  // namespace

std::string iso_time(system_clock::time_point time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const auto rest = std::chrono::floor<std::chrono::milliseconds>(time - whole);
  return formatted(time, "%Y-%m-%dT%H:%M:%S.") + std::to_string(1000 + rest.count()).substr(1) +
         "Z";
}

std::string plain_time(system_clock::time_point time) { return formatted(time, "%F %TZ"); }

std::string age_text(system_clock::duration age) {
  using std::chrono::days;
  using std::chrono::floor;
  using std::chrono::hours;
  using std::chrono::minutes;
  using std::chrono::seconds;
  age = std::max(age, system_clock::duration::zero());
  if (age >= days{1}) return format_duration(floor<hours>(age));
  if (age >= hours{1}) return format_duration(floor<minutes>(age));
  return format_duration(floor<seconds>(age));
}

}  // namespace custodian::cli
