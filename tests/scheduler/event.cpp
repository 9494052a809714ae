#include "event.hpp"

#include <array>
#include <sstream>
#include <string_view>
#include <utility>

namespace custodian::tests::scheduler {

std::optional<Event> parse_event(const std::string& line) {
  constexpr std::array<std::pair<EventKind, std::string_view>, 6> beginnings{{
      {EventKind::took_over, "took over with token "},
      {EventKind::running, "running job "},
      {EventKind::recorded, "recorded job "},
      {EventKind::gave_up, "gave up job "},
      {EventKind::refused, "refused: stale token "},
      {EventKind::leads_no_more, "leads no more: "},
  }};
  std::istringstream words{line};
  std::string instance;
  double seconds = 0;
  words >> seconds >> instance >> std::ws;
  if (!words || instance.back() != ':') return std::nullopt;
  instance.pop_back();
  const auto at = std::chrono::duration_cast<Time>(std::chrono::duration<double>{seconds});
  std::string text;
  std::getline(words, text);
  for (const auto& [kind, beginning] : beginnings) {
    if (!text.starts_with(beginning)) continue;
    std::int64_t number = 0;
    std::istringstream{text.substr(beginning.size())} >> number;
    return Event{at, instance, kind, number};
  }
  return std::nullopt;
}

}  // namespace custodian::tests::scheduler
