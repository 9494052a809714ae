#pragma once

/// \file
/// Judge says whether the holds of paths that move were as docs/moving-map.md promises, by what the
/// processes have reported. Times are of one clock for all, in nanoseconds. Pure.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "chaos/token.hpp"

namespace custodian::tests::moving {

using chaos::Token;

class Judge {
 public:
  /// \name What has happened
  /// \{

  /// A process holds a path from this time on, and has it at this home, the newest of them.
  void begin(const std::string& owner, const std::string& path, Token token, std::int64_t time,
             const std::string& home);
  /// It does so no more: it releases the path, or has been notified of the loss.
  void end(const std::string& owner, const std::string& path, Token token, std::int64_t time);
  /// All that the process held has ended.
  void died(const std::string& owner, std::int64_t time);
  /// A register that compares tokens has accepted a write.
  void landed(const std::string& owner, const std::string& path, Token token, std::int64_t sent,
              std::int64_t answered);
  /// The register has refused a write of a process that still held the path when it had the answer.
  void refused_good(const std::string& owner, const std::string& path, Token token);
  /// The servers have carried out a write that was guarded by a check of the lease.
  void wrote(const std::string& owner, const std::string& path, Token token,
             const std::string& ensemble, std::int64_t zxid);
  /// Something else that must not be.
  void note(std::string violation) { noted_.push_back(std::move(violation)); }
  /// \}

  /// Whether the process holds a path since before this time.
  [[nodiscard]] bool holds_since_before(const std::string& owner, std::int64_t time) const;
  [[nodiscard]] std::size_t grants() const noexcept { return grants_; }
  /// Writes that the register has accepted.
  [[nodiscard]] std::size_t writes() const noexcept { return writes_; }
  [[nodiscard]] std::size_t guarded_writes() const noexcept { return guarded_writes_; }
  /// The homes of the last hold of each path, of those that have begun at this time or later.
  [[nodiscard]] std::map<std::string, std::string> homes_since(std::int64_t time) const;

  /// All that must not be: two holders at a time, a token that is not greater than that of the hold
  /// before, a stale write that was accepted, a good one that was refused, and what was noted.
  [[nodiscard]] std::vector<std::string> violations() const;

 private:
  struct Hold {
    std::string owner{};
    Token token{};
    std::int64_t begin = 0;
    std::int64_t end = 0;  ///< 0: it goes on
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
