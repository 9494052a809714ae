#include "barriers/phase_rules.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "custodian/authoring/path.hpp"
#include "custodian/authoring/uuid.hpp"

namespace custodian::recipes_detail {

namespace {

/// How many bytes of earlier phases' names are kept; the last phase's names are kept in any case.
constexpr std::size_t most_history = 16'384;

/// The phase's number at the end of the last line, which ends with a line feed.
std::string_view number_of_line(std::string_view lines) {
  lines.remove_suffix(1);
  return lines.substr(std::min(lines.rfind('-'), lines.size()));
}

/// Where the lines of the last phase begin.
std::size_t begin_of_last_phase(std::string_view lines) {
  const std::string_view number = number_of_line(lines);
  while (!lines.empty() && number_of_line(lines) == number) {
    const std::size_t feed = lines.substr(0, lines.size() - 1).rfind('\n');
    lines = lines.substr(0, feed == std::string_view::npos ? 0 : feed + 1);
  }
  return lines.size();
}

/// The names of earlier phases that stay. The names of a phase stay or go together: if some of them
/// were gone, a missing name would prove nothing.
std::string kept_history(std::string before) {
  if (before.size() <= most_history || !before.ends_with('\n')) return before;
  const std::string_view lines{before};
  std::size_t begin = begin_of_last_phase(lines);
  while (begin > 0) {
    const std::size_t earlier = begin_of_last_phase(lines.substr(0, begin));
    if (lines.size() - earlier > most_history) break;
    begin = earlier;
  }
  before.erase(0, begin);
  return before;
}

}  // namespace

std::string arrival_name(std::int32_t phase) { return "phase-" + std::to_string(phase); }

std::vector<std::string> arrivals_of_phase(std::vector<std::string> children, std::int32_t expected,
                                           std::int32_t phase) {
  const std::string ending = "-" + arrival_name(phase);
  std::erase_if(children, [&](std::string_view name) {
    return !name.starts_with("_c_") || !name.ends_with(ending);
  });
  const auto count = static_cast<std::size_t>(expected);
  if (children.size() < count) return {};
  std::ranges::sort(children);
  children.resize(count);
  return children;
}

Transaction ending_phase(const std::string& path, const std::vector<std::string>& arrivals,
                         std::int32_t phase, std::string before) {
  std::string data = kept_history(std::move(before));
  Transaction transaction;
  for (const std::string& arrival : arrivals) {
    data.append(arrival).append("\n");
    transaction.push_back(remove(join(path, arrival)));
  }
  transaction.push_back(set(path, std::move(data), phase));
  return transaction;
}

Transaction longest_ending(const std::string& path, std::int32_t expected) {
  constexpr std::int32_t last_phase = std::numeric_limits<std::int32_t>::max();
  const auto count = static_cast<std::size_t>(expected);
  const std::string longest = "_c_" + make_uuid() + "-" + arrival_name(last_phase);
  std::string history;
  for (std::size_t i = 0; i < count; ++i) history.append(longest).append("\n");
  history.resize(std::max(history.size(), most_history), 'x');
  return ending_phase(path, std::vector<std::string>(count, longest), last_phase,
                      std::move(history));
}

Arrival fate_of(const GetResult& barrier, std::string_view arrival, std::int32_t phase) {
  if (barrier.stat.version == phase) return Arrival::waits;
  // Versions of one node only grow, so this is another node, which was created later.
  if (barrier.stat.version < phase) return Arrival::left_over;
  // No name is a part of another one: each begins with an id of its own.
  if (barrier.data.find(arrival) != std::string::npos) return Arrival::passed;
  const bool is_kept = barrier.data.find(arrival_name(phase) + "\n") != std::string::npos;
  return is_kept ? Arrival::left_over : Arrival::unknown;
}

bool is_certainly_gone(const GetResult& barrier, std::int32_t phase, std::int64_t czxid) {
  // The transaction that ended this phase is the last one that wrote to the barrier.
  const bool has_just_ended = barrier.stat.version - phase == 1;
  return has_just_ended && czxid < barrier.stat.mzxid;
}

}  // namespace custodian::recipes_detail
