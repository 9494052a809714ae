#pragma once

/// \file
/// Judge decides from the reports of the processes whether the holds of moving paths were as
/// docs/moving-map.md promises. All times are of one clock, in nanoseconds. Pure.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "chaos/token.hpp"

namespace custodian::tests::moving {

using chaos::Token;

class Judge {
 public:
  /// \name Events
  /// \{

  /// A process holds a path from this time on. `home` is the newest of the path's homes.
  void begin(const std::string& owner, const std::string& path, Token token, std::int64_t time,
             const std::string& home);
  /// The hold ends: the process releases the path, or has been notified of the loss.
  void end(const std::string& owner, const std::string& path, Token token, std::int64_t time);
  /// The process has died, which ends all of its holds.
  void died(const std::string& owner, std::int64_t time);
  /// A register that compares tokens has accepted a write.
  void landed(const std::string& owner, const std::string& path, Token token, std::int64_t sent,
              std::int64_t answered);
  /// The register has refused a write of a process that still held the path when it had the answer.
  void refused_good(const std::string& owner, const std::string& path, Token token);
  /// The servers have carried out a write that was guarded by a check of the lease.
  void wrote(const std::string& owner, const std::string& path, Token token,
             const std::string& ensemble, std::int64_t zxid);
  /// Another violation.
  void note(std::string violation) { noted_.push_back(std::move(violation)); }
  /// \}

  /// Whether the process holds a path that it has held since before this time.
  [[nodiscard]] bool holds_since_before(const std::string& owner, std::int64_t time) const;
  [[nodiscard]] std::size_t grants() const noexcept { return grants_; }
  /// Writes that the register has accepted.
  [[nodiscard]] std::size_t writes() const noexcept { return writes_; }
  [[nodiscard]] std::size_t guarded_writes() const noexcept { return guarded_writes_; }
  /// The home of each path's last hold, if that hold began at this time or later.
  [[nodiscard]] std::map<std::string, std::string> homes_since(std::int64_t time) const;

  /// All violations: two holders at a time, a token that is not greater than that of the previous
  /// hold, a stale write that was accepted, a good write that was refused, and those of note().
  [[nodiscard]] std::vector<std::string> violations() const;

 private:
  struct Hold {
    std::string owner{};
    Token token{};
    std::int64_t begin = 0;
    std::int64_t end = 0;  ///< 0: the hold goes on
    std::string home{};
  };
  struct Landed {
    std::string owner{};
    Token token{};
    std::int64_t sent = 0;
    std::int64_t answered = 0;
  };
  struct Write {
    std::string owner{};
    Token token{};
  };
  using Violations = std::vector<std::string>;

  static void judge_holds(const std::string& path, std::vector<Hold> holds, Violations& found);
  static void judge_landed(const std::string& path, std::vector<Landed> all, Violations& found);
  void judge_writes(Violations& found) const;

  std::map<std::string, std::vector<Hold>> holds_;
  std::map<std::string, std::vector<Landed>> landed_;
  /// By path and ensemble, and by zxid.
  std::map<std::string, std::map<std::int64_t, Write>> guarded_;
  Violations noted_;
  std::size_t grants_ = 0;
  std::size_t writes_ = 0;
  std::size_t guarded_writes_ = 0;
};

}  // namespace custodian::tests::moving
