#include "attendance.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <system_error>

namespace custodian::tests {

std::int64_t monotonic_now() {
  return std::chrono::nanoseconds{std::chrono::steady_clock::now().time_since_epoch()}.count();
}

Diary::Diary(const std::filesystem::path& file)
    : file_{::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)} {
  if (file_ < 0) throw std::system_error{errno, std::generic_category(), file.string()};
}

Diary::~Diary() { ::close(file_); }

void Diary::note(const std::string& what) const {
  const std::string line = what + " " + std::to_string(monotonic_now()) + "\n";
  if (::write(file_, line.data(), line.size()) < 0) {
    throw std::system_error{errno, std::generic_category(), what};
  }
}

Attendance::Attendance(const std::vector<Attendee>& attendees, std::chrono::milliseconds expiry)
    : attendees_{attendees}, expiry_{std::chrono::nanoseconds{expiry}.count()} {
  for (std::size_t member = 0; member < attendees_.size(); ++member) {
    std::istringstream diary{attendees_[member].diary};
    std::string what;
    std::int64_t time = 0;
    while (diary >> what >> time) {
      if (what == "comes") visits_.push_back({.member = member, .comes = time});
      if (visits_.empty() || visits_.back().member != member) continue;
      if (what == "in") visits_.back().in = time;
      if (what == "leaves") visits_.back().leaves = time;
      if (what == "out") visits_.back().out = time;
    }
  }
  std::ranges::sort(visits_, {}, &Visit::comes);
  for (const Visit& each : visits_) {
    longest_ = std::max(longest_, end_of(each, expiry_) - each.comes);
  }
}

std::span<const Visit> Attendance::beside(const Visit& visit, std::int64_t until) const {
  const auto from = std::ranges::lower_bound(visits_, visit.comes - longest_, {}, &Visit::comes);
  const auto to = std::ranges::upper_bound(visits_, until, {}, &Visit::comes);
  return {from, to};
}

bool Attendance::is_of(const Visit& visit, const std::string& library) const {
  return attendees_[visit.member].library == library;
}

/// The end of a visit: the member began to leave, or was killed and its node is gone.
std::int64_t Attendance::end_of(const Visit& visit, std::int64_t after_death) const {
  if (visit.leaves) return *visit.leaves;
  const auto killed = attendees_[visit.member].killed;
  return killed ? *killed + after_death : std::numeric_limits<std::int64_t>::max();
}

std::size_t Attendance::visits(const std::string& library) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      visits_, [&](const Visit& each) { return each.in && is_of(each, library); }));
}

std::vector<Visit> Attendance::early(const std::string& library, std::size_t needed) const {
  std::vector<Visit> early;
  for (const Visit& visit : visits_) {
    if (!visit.in || !is_of(visit, library)) continue;
    // The number of members is greatest at a moment at which a member comes.
    std::vector<const Visit*> there_then;
    for (const Visit& other : beside(visit, *visit.in)) {
      if (end_of(other, expiry_) >= visit.comes) there_then.push_back(&other);
    }
    std::size_t most = 0;
    for (const Visit* moment : there_then) {
      const std::int64_t at = std::max(moment->comes, visit.comes);
      const auto there = std::ranges::count_if(there_then, [&](const Visit* each) {
        return each->comes <= at && end_of(*each, expiry_) >= at;
      });
      most = std::max(most, static_cast<std::size_t>(there));
    }
    if (most < needed) early.push_back(visit);
  }
  return early;
}

std::vector<Visit> Attendance::left_alone(const std::string& library) const {
  std::vector<Visit> alone;
  for (const Visit& visit : visits_) {
    if (!visit.out || !is_of(visit, library)) continue;
    const auto others = beside(visit, *visit.leaves);
    const bool is_left = std::ranges::any_of(others, [&](const Visit& other) {
      return other.in && *other.in < *visit.leaves && end_of(other, 0) > *visit.out;
    });
    if (is_left) alone.push_back(visit);
  }
  return alone;
}

}  // namespace custodian::tests
