#include "down_instances.hpp"

namespace custodian::discovery_detail {

void DownInstances::note_error(std::string_view id, Time now) {
  std::erase_if(marks_, [&](const auto& each) { return is_over(each.second, now); });
  Mark& mark = marks_.try_emplace(std::string{id}, Mark{.first = now}).first->second;
  ++mark.errors;
}

bool DownInstances::is_down(std::string_view id, Time now) const {
  const auto found = marks_.find(id);
  return found != marks_.end() && found->second.errors >= policy_.errors &&
         !is_over(found->second, now);
}

std::optional<DownInstances::Time> DownInstances::next_return(Time now) const {
  std::optional<Time> next;
  for (const auto& [id, mark] : marks_) {
    if (!is_down(id, now)) continue;
    const Time end = mark.first + std::chrono::ceil<Time::duration>(policy_.time);
    if (!next || end < *next) next = end;
  }
  return next;
}

}  // namespace custodian::discovery_detail
