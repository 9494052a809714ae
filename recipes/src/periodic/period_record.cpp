#include "periodic/period_record.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

namespace custodian {

std::string_view to_string(RunState state) noexcept {
  switch (state) {
    case RunState::running: return "running";
    case RunState::succeeded: return "succeeded";
    case RunState::failed: return "failed";
    case RunState::not_begun: return "not begun";
    case RunState::broken_off: return "broken off";
  }
  return "?";
}

namespace recipes_detail {
namespace {

using std::chrono::milliseconds;
using Time = PeriodRun::Time;

/// The first line: what wrote the record, and the version of its format.
constexpr std::string_view title = "custodian once, record 1";

/// The states in a record. `broken_off` is not one: only a look at the run's lock shows it.
constexpr std::array recorded_states{RunState::running, RunState::succeeded, RunState::failed,
                                     RunState::not_begun};

/// Makes one line of a user's text.
std::string on_one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char each) { return static_cast<unsigned char>(each) < ' '; }, ' ');
  return text;
}

/// The number, if it is the whole text.
template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Time> time_of(std::string_view text) {
  // 2026-11-27T10:00:00.113Z
  constexpr std::string_view form = "dddd-dd-ddTdd:dd:dd.dddZ";
  if (text.size() != form.size()) return std::nullopt;
  for (std::size_t at = 0; at < form.size(); ++at) {
    const bool is_digit = text[at] >= '0' && text[at] <= '9';
    if (form[at] == 'd' ? !is_digit : text[at] != form[at]) return std::nullopt;
  }
  const auto part = [text](std::size_t from, std::size_t count) {
    return *number_of<unsigned>(text.substr(from, count));
  };
  namespace chrono = std::chrono;
  const chrono::year_month_day date{chrono::year{static_cast<int>(part(0, 4))},
                                    chrono::month{part(5, 2)}, chrono::day{part(8, 2)}};
  if (!date.ok() || part(11, 2) > 23 || part(14, 2) > 59 || part(17, 2) > 59) return std::nullopt;
  return chrono::sys_days{date} + chrono::hours{part(11, 2)} + chrono::minutes{part(14, 2)} +
         chrono::seconds{part(17, 2)} + milliseconds{part(20, 3)};
}

std::optional<RunState> run_state_of(std::string_view text) {
  const auto* const found =
      std::ranges::find(recorded_states, text, [](RunState state) { return to_string(state); });
  if (found == recorded_states.end()) return std::nullopt;
  return *found;
}

/// The lines of a record, by their names.
class Lines {
 public:
  static std::optional<Lines> of(std::string_view text) {
    Lines lines;
    bool is_title = true;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      // A record that was cut off has no last line break.
      if (end == text.npos) return std::nullopt;
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end + 1);
      if (std::exchange(is_title, false)) {
        if (line != title) return std::nullopt;
        continue;
      }
      const std::size_t colon = line.find(": ");
      if (colon == line.npos) return std::nullopt;
      if (!lines.by_name_.emplace(line.substr(0, colon), line.substr(colon + 2)).second) {
        return std::nullopt;
      }
    }
    if (is_title) return std::nullopt;
    return lines;
  }

  [[nodiscard]] std::optional<std::string_view> text(std::string_view name) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return std::nullopt;
    return found->second;
  }
  /// The value of a line, as `parse` reads it; nothing if there is no such line, or `parse` fails.
  template <typename Parse>
  [[nodiscard]] auto value(std::string_view name, Parse parse) const
      -> decltype(parse(std::string_view{})) {
    const auto found = text(name);
    if (!found) return std::nullopt;
    return parse(*found);
  }

 private:
  std::map<std::string_view, std::string_view> by_name_;
};

/// Reads an optional line. False if there is such a line, and its value is wrong.
template <typename Number>
bool read_if_there(const Lines& lines, std::string_view name, std::optional<Number>& value) {
  if (!lines.text(name)) return true;
  value = lines.value(name, number_of<Number>);
  return value.has_value();
}

}  // namespace

std::string time_text(Time time) {
  namespace chrono = std::chrono;
  const auto day = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date{day};
  const chrono::hh_mm_ss clock{time - day};
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()),
                static_cast<int>(clock.subseconds().count()));
  return text.data();
}

std::string encode(const PeriodRun& run) {
  std::string text{title};
  text += '\n';
  const auto line = [&text](std::string_view name, std::string_view value) {
    text.append(name).append(": ").append(value).append("\n");
  };
  line("state", to_string(run.state));
  line("by", on_one_line(run.by));
  line("node", run.node);
  line("run", run.id);
  line("every-ms", std::to_string(run.every.count()));
  line("due", time_text(run.due));
  line("begun", time_text(run.begun));
  line("attempt", std::to_string(run.attempt));
  line("missed", std::to_string(run.missed));
  if (run.status) line("status", std::to_string(*run.status));
  if (run.lasted) line("lasted-ms", std::to_string(run.lasted->count()));
  return text;
}

Result<PeriodRun> decode_run(std::string_view text) {
  const auto lines = Lines::of(text);
  if (!lines) return Errc::malformed_data;
  const auto state = lines->value("state", run_state_of);
  const auto by = lines->text("by");
  const auto node = lines->text("node");
  const auto id = lines->text("run");
  const auto every = lines->value("every-ms", number_of<std::int64_t>);
  const auto due = lines->value("due", time_of);
  const auto begun = lines->value("begun", time_of);
  const auto attempt = lines->value("attempt", number_of<int>);
  const auto missed = lines->value("missed", number_of<std::int64_t>);
  if (!state || !by || !node || !id || !every || !due || !begun || !attempt || !missed) {
    return Errc::malformed_data;
  }
  // Leaves room to count one more.
  constexpr std::int64_t most = 1'000'000'000;
  if (*attempt < 1 || *attempt > most || *missed < 0 || *missed > most) {
    return Errc::malformed_data;
  }
  // The name becomes part of a path.
  if (node->empty() || node->find('/') != node->npos) return Errc::malformed_data;
  PeriodRun run{.state = *state,
                .by = std::string{*by},
                .node = std::string{*node},
                .id = std::string{*id},
                .every = milliseconds{*every},
                .due = *due,
                .begun = *begun,
                .attempt = *attempt,
                .missed = *missed};
  std::optional<std::int64_t> lasted;
  if (!read_if_there(*lines, "status", run.status) || !read_if_there(*lines, "lasted-ms", lasted)) {
    return Errc::malformed_data;
  }
  if (lasted) run.lasted = milliseconds{*lasted};
  return run;
}

}  // namespace recipes_detail
}  // namespace custodian
