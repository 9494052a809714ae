#include "barriers/party_rules.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "custodian/authoring/path.hpp"

namespace custodian::recipes_detail {

namespace {

/// The first line of the data that this library writes.
constexpr std::string_view heading = "members:\n";

bool has_line(std::string_view text, std::string_view line) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (text.substr(0, end) == line) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

/// The size of "_c_<uuid>-".
constexpr std::size_t id_size = 3 + 36 + 1;

bool is_of_this_library(std::string_view node) {
  return node.starts_with("_c_") && node.size() > id_size;
}

/// The part of a node's name behind the id of its protected create, "_c_<uuid>-". All nodes of a
/// member have the same.
std::string_view member_of(std::string_view node) {
  return is_of_this_library(node) ? node.substr(id_size) : node;
}

}  // namespace

std::vector<std::string> members_of(std::vector<std::string> names) {
  std::erase(names, ready_name);
  std::ranges::sort(names);
  return names;
}

std::size_t count_members(const std::vector<std::string>& members) {
  std::set<std::string_view> distinct;
  for (const std::string& member : members) distinct.insert(member_of(member));
  return distinct.size();
}

std::string ready_data(const std::vector<std::string>& members) {
  std::string data{heading};
  for (const std::string& member : members) data.append(member).append("\n");
  return data;
}

Transaction completing(const std::string& path, const std::vector<std::string>& members) {
  Transaction transaction;
  for (const std::string& member : members) transaction.push_back(check(join(path, member)));
  const std::string data = ready_data(members);
  transaction.push_back(set(path, data));
  transaction.push_back(create(join(path, ready_name), data));
  return transaction;
}

std::string joined(std::string ready, std::string_view member,
                   const std::vector<std::string>& listed) {
  if (!ready.starts_with(heading)) return ready;
  std::vector<std::string> members;
  std::string_view left = std::string_view{ready}.substr(heading.size());
  while (!left.empty()) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    const std::string_view name = left.substr(0, end);
    if (std::ranges::binary_search(listed, name, std::less<>{})) members.emplace_back(name);
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  members.emplace_back(member);
  return ready_data(members);
}

Counted counted_by(const GetResult& ready, std::string_view member, std::int64_t czxid) {
  const std::string_view data = ready.data;
  if (data.starts_with(heading)) {
    return has_line(data.substr(heading.size()), member) ? Counted::yes : Counted::no;
  }
  return ready.stat.czxid < czxid ? Counted::no : Counted::perhaps;
}

Counted counted_since(const Standing& standing, const std::optional<GetResult>& barrier,
                      std::string_view member, std::int64_t czxid) {
  if (!barrier) return Counted::perhaps;
  const std::string_view data = barrier->data;
  const bool is_ours = data.starts_with(heading);
  if (is_ours && has_line(data.substr(heading.size()), member)) return Counted::yes;
  const Stat& stat = barrier->stat;
  if (standing.barrier == 0) return stat.mzxid < czxid ? Counted::no : Counted::perhaps;
  const bool is_same = stat.czxid == standing.barrier;
  return is_same && stat.version - standing.version < 2 ? Counted::no : Counted::perhaps;
}

std::string first_counted(std::string_view ready, const std::vector<std::string>& members) {
  if (!ready.starts_with(heading)) return {};
  const std::string_view counted = ready.substr(heading.size());
  const auto found = std::ranges::find_if(
      members, [&](const std::string& member) { return has_line(counted, member); });
  return found == members.end() ? std::string{} : *found;
}

PartyState state_of(std::string_view ready, const std::vector<std::string>& members) {
  if (!ready.starts_with(heading)) return PartyState::unknown;
  return first_counted(ready, members).empty() ? PartyState::over : PartyState::under_way;
}

std::vector<std::string> in_party(std::string_view ready, std::vector<std::string> members) {
  if (!ready.starts_with(heading)) return members;
  const std::string_view named = ready.substr(heading.size());
  std::erase_if(members, [&](const std::string& member) {
    return is_of_this_library(member) && !has_line(named, member);
  });
  return members;
}

Leaving next_of_leaving(const std::vector<std::string>& members, std::string_view own) {
  const bool is_here = std::ranges::find(members, own) != members.end();
  if (members.empty()) return {.is_over = true};
  if (!is_here) return {.waits_for = members.front()};
  if (members.size() == 1) return {.is_last = true};
  if (members.front() == own) return {.waits_for = members.back()};
  return {.removes_own_node = true, .waits_for = members.front()};
}

}  // namespace custodian::recipes_detail
