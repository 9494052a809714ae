#include "conditions/condition_line.hpp"

#include <algorithm>
#include <set>

namespace custodian::recipes_detail {

namespace {

constexpr std::string_view signal_name = "sig-";
constexpr std::size_t digits = 10;

/// The digits of a waiter's number. All numbers have the same length, so they sort as texts.
std::string_view number_of(std::string_view waiter) {
  return waiter.substr(waiter.size() - digits);
}

bool comes_before(std::string_view one, std::string_view other) {
  return number_of(one) < number_of(other);
}

}  // namespace

std::string signal_to(std::string_view waiter) { return std::string{signal_name}.append(waiter); }

bool is_waiter(std::string_view name) {
  if (name.starts_with(signal_name) || name.size() < waiter_name.size() + digits) return false;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return std::ranges::all_of(number_of(name), is_digit) &&
         name.substr(0, name.size() - digits).ends_with(waiter_name);
}

ConditionLine::ConditionLine(const std::vector<std::string>& names) {
  std::set<std::string, std::less<>> signalled;
  for (const std::string& name : names) {
    if (is_waiter(name)) waiters_.push_back({name});
    if (!name.starts_with(signal_name)) continue;
    std::string waiter = name.substr(signal_name.size());
    if (is_waiter(waiter)) signalled.insert(std::move(waiter));
  }
  std::ranges::sort(waiters_, comes_before, &Waiter::name);
  for (Waiter& waiter : waiters_) waiter.is_signalled = signalled.erase(waiter.name) > 0;
  left_.assign(signalled.begin(), signalled.end());
  std::ranges::sort(left_, comes_before);
}

std::vector<std::string> ConditionLine::unsignalled(std::size_t most) const {
  std::vector<std::string> names;
  for (const Waiter& waiter : waiters_) {
    if (names.size() == most) break;
    if (!waiter.is_signalled) names.push_back(waiter.name);
  }
  return names;
}

std::optional<std::string_view> ConditionLine::in_front_of(std::string_view waiter) const {
  std::optional<std::string_view> nearest;
  for (const Waiter& each : waiters_) {
    if (comes_before(each.name, waiter)) nearest = each.name;
  }
  return nearest;
}

std::optional<ConditionLine::Passing> ConditionLine::passing() const {
  const auto next = std::ranges::find(waiters_, false, &Waiter::is_signalled);
  if (left_.empty() || next == waiters_.end()) return std::nullopt;
  return Passing{left_.front(), next->name};
}

}  // namespace custodian::recipes_detail
