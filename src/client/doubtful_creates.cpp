#include "client/doubtful_creates.hpp"

#include <algorithm>
#include <utility>

#include "base/paths.hpp"

namespace custodian::detail {

std::optional<std::string_view> protection_of(std::string_view name) noexcept {
  constexpr std::string_view begin = "_c_";
  constexpr std::size_t size = begin.size() + 36 + 1;  // a uuid and its hyphen
  if (!name.starts_with(begin) || name.size() < size || name[size - 1] != '-') return std::nullopt;
  return name.substr(0, size);
}

void DoubtfulCreates::add(const std::string& parent, std::string protection,
                          std::optional<std::string> kept, Time now, Time until) {
  Parent& below = parents_[parent];
  const Time soon = now + first_pause;
  // A new create brings the next look forward for all creates below this parent.
  below.next = below.creates.empty() ? soon : std::min(below.next, soon);
  below.pause = first_pause;
  Create& create = below.creates[std::move(protection)];
  create = {std::move(kept), std::max(create.until, until)};
}

void DoubtfulCreates::extend(Time until) {
  for (auto& [path, parent] : parents_) {
    for (auto& [protection, create] : parent.creates) create.until = std::max(create.until, until);
  }
}

DoubtfulCreates::Parents::iterator DoubtfulCreates::parent_with(std::string_view path) {
  if (parents_.empty()) return parents_.end();
  const auto protection = protection_of(name_of(path));
  const auto found = protection ? parents_.find(parent_of(path)) : parents_.end();
  const bool known = found != parents_.end() && found->second.creates.contains(*protection);
  return known ? found : parents_.end();
}

void DoubtfulCreates::disown(std::string_view path) {
  const auto parent = parent_with(path);
  if (parent == parents_.end()) return;
  Create& create = parent->second.creates.find(*protection_of(name_of(path)))->second;
  if (create.kept == name_of(path)) create.kept.reset();
}

void DoubtfulCreates::forget(std::string_view path) {
  const auto parent = parent_with(path);
  if (parent == parents_.end()) return;
  auto& creates = parent->second.creates;
  creates.erase(creates.find(*protection_of(name_of(path))));
  if (creates.empty()) parents_.erase(parent);
}

std::optional<DoubtfulCreates::Time> DoubtfulCreates::next() const {
  std::optional<Time> next;
  for (const auto& [path, parent] : parents_)
    next = std::min(next.value_or(parent.next), parent.next);
  return next;
}

std::vector<std::string> DoubtfulCreates::due(Time now) const {
  std::vector<std::string> paths;
  for (const auto& [path, parent] : parents_) {
    if (parent.next <= now) paths.push_back(path);
  }
  return paths;
}

std::vector<std::string> DoubtfulCreates::strays(const std::string& parent,
                                                 const std::vector<std::string>& children) const {
  std::vector<std::string> paths;
  const auto below = parents_.find(parent);
  if (below == parents_.end()) return paths;
  const auto& creates = below->second.creates;
  for (const std::string& name : children) {
    const auto protection = protection_of(name);
    const auto create = protection ? creates.find(*protection) : creates.end();
    if (create != creates.end() && create->second.kept != name) paths.push_back(join(parent, name));
  }
  return paths;
}

void DoubtfulCreates::looked(const std::string& parent, Look look, Time began, Time ended) {
  const auto found = parents_.find(parent);
  if (found == parents_.end()) return;
  Parent& below = found->second;
  if (look == Look::complete) {
    std::erase_if(below.creates, [&](const auto& each) { return each.second.until <= began; });
  }
  if (below.creates.empty()) {
    parents_.erase(found);
    return;
  }
  below.pause = std::min<Duration>(2 * below.pause, longest_pause);
  below.next = ended + below.pause;
}

}  // namespace custodian::detail
