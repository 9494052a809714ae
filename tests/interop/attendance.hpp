#pragma once

/// \file
/// Attendance is what the members of double barriers' parties have written down, each in a file of
/// its own, and what follows from it.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace custodian::tests {

/// One time at a party; all times are of CLOCK_MONOTONIC, in ns. What was not reached is empty.
struct Visit {
  std::size_t member = 0;
  std::int64_t comes = 0;  ///< begins to enter
  std::optional<std::int64_t> in{};
  std::optional<std::int64_t> leaves{};  ///< begins to leave
  std::optional<std::int64_t> out{};
};

/// A session that went from party to party.
struct Attendee {
  std::string library;
  std::string diary;  ///< what it has written down
  std::optional<std::int64_t> killed{};
};

/// Appends what happens to a member's file, at once.
class Diary {
 public:
  explicit Diary(const std::filesystem::path& file);
  Diary(const Diary&) = delete;
  Diary& operator=(const Diary&) = delete;
  ~Diary();
  void note(const std::string& what) const;

 private:
  int file_;
};

[[nodiscard]] std::int64_t monotonic_now();

class Attendance {
 public:
  /// The node of one that was killed is gone after so long at most.
  Attendance(const std::vector<Attendee>& attendees, std::chrono::milliseconds expiry);

  /// How often members of this library were in.
  [[nodiscard]] std::size_t visits(const std::string& library) const;
  /// Those by members of this library who were in though there was no moment, since they came, at
  /// which so many were there.
  [[nodiscard]] std::vector<Visit> early(const std::string& library, std::size_t needed) const;
  /// Those by members of this library who were out while another one, that was in when they left,
  /// still was.
  [[nodiscard]] std::vector<Visit> left_alone(const std::string& library) const;

 private:
  [[nodiscard]] bool is_of(const Visit& visit, const std::string& library) const;
  [[nodiscard]] std::int64_t end_of(const Visit& visit, std::int64_t after_death) const;
  /// Those that came before `until`, and may have been there when this visit began.
  [[nodiscard]] std::span<const Visit> beside(const Visit& visit, std::int64_t until) const;

  const std::vector<Attendee> attendees_;
  const std::int64_t expiry_;
  std::vector<Visit> visits_;  ///< in the order of `comes`
  std::int64_t longest_ = 0;   ///< no visit took longer
};

}  // namespace custodian::tests
