#pragma once

/// \file
/// Ownership judges which process has owned which shard, by the owners' reports and by the zxids of
/// their writes. Pure.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace custodian::tests::crowds {

class Ownership {
 public:
  /// \name Events
  /// All times are of one clock, in nanoseconds.
  /// \{
  void begin(const std::string& owner, const std::string& shard, std::int64_t token,
             std::int64_t time);
  void end(const std::string& owner, const std::string& shard, std::int64_t token,
           std::int64_t time);
  void wrote(const std::string& owner, const std::string& shard, std::int64_t token,
             std::int64_t zxid);
  /// The owner's process has died, which ends all of its holds.
  void died(const std::string& owner, std::int64_t time);
  /// \}

  /// The present owners, by shard.
  [[nodiscard]] std::map<std::string, std::string> owners() const;
  [[nodiscard]] std::size_t writes() const { return count_; }
  /// The first broken rule: two owners of a shard at a time, a token that is not greater than the
  /// previous one, or a write of an earlier owner after a write of a later owner. Empty if all is
  /// well.
  [[nodiscard]] std::string violation() const;

 private:
  struct Hold {
    std::string owner{};
    std::int64_t token = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;  ///< 0: the hold goes on
  };
  struct Write {
    std::string owner{};
    std::int64_t token = 0;
  };

  std::map<std::string, std::vector<Hold>> holds_;
  std::map<std::string, std::map<std::int64_t, Write>> writes_;  ///< by shard, and by zxid
  std::size_t count_ = 0;
};

}  // namespace custodian::tests::crowds
