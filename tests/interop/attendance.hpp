#pragma once

/// \file
/// Attendance judges the files in which members of double barriers' parties, each in its own, have
/// recorded when they came and left.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace custodian::tests {

/// One visit of a party. All times are of CLOCK_MONOTONIC, in ns; a moment that was not reached is
/// empty.
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
  std::string diary;  ///< the content of its file
  std::optional<std::int64_t> killed{};
};

/// Appends each event to a member's file, at once.
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
  /// `expiry` is the longest time until the node of a killed member is gone.
  Attendance(const std::vector<Attendee>& attendees, std::chrono::milliseconds expiry);

  /// The number of visits in which members of this library were in.
  [[nodiscard]] std::size_t visits(const std::string& library) const;
  /// The visits by members of this library that were in too early: since they came, there was no
  /// moment at which `needed` members were there.
  [[nodiscard]] std::vector<Visit> early(const std::string& library, std::size_t needed) const;
  /// The visits by members of this library that were out too early: another member, which was in
  /// when they left, was still in.
  [[nodiscard]] std::vector<Visit> left_alone(const std::string& library) const;

 private:
  [[nodiscard]] bool is_of(const Visit& visit, const std::string& library) const;
  [[nodiscard]] std::int64_t end_of(const Visit& visit, std::int64_t after_death) const;
  /// The visits that began before `until`, and may not have ended when this one began.
  [[nodiscard]] std::span<const Visit> beside(const Visit& visit, std::int64_t until) const;

  const std::vector<Attendee> attendees_;
  const std::int64_t expiry_;
  std::vector<Visit> visits_;  ///< in the order of `comes`
  std::int64_t longest_ = 0;   ///< the length of the longest visit
};

}  // namespace custodian::tests
