#include "barriers/phase_rules.hpp"

#include <algorithm>
#include <utility>

#include "custodian/authoring/path.hpp"

namespace custodian::recipes_detail {

namespace {

/// How many bytes of earlier phases' names are kept.
constexpr std::size_t most_history = 16'384;

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
  std::string data = std::move(before);
  if (data.size() > most_history) {
    // Whole lines: a name that is cut is that of no arrival.
    data.erase(0, data.find('\n', data.size() - most_history) + 1);
  }
  Transaction transaction;
  for (const std::string& arrival : arrivals) {
    data.append(arrival).append("\n");
    transaction.push_back(remove(join(path, arrival)));
  }
  transaction.push_back(set(path, std::move(data), phase));
  return transaction;
}

Arrival fate_of(const GetResult& barrier, std::string_view arrival, std::int32_t phase) {
  if (barrier.stat.version <= phase) return Arrival::waits;
  // No name is a part of another one: each has an id in front.
  if (barrier.data.find(arrival) != std::string::npos) return Arrival::passed;
  const bool is_kept = barrier.data.find(arrival_name(phase) + "\n") != std::string::npos;
  return is_kept ? Arrival::left_over : Arrival::unknown;
}

}  // namespace custodian::recipes_detail
