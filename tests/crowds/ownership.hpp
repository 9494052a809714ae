#pragma once

/// \file
/// Ownership judges who has owned which shard, by what the owners say and by the zxids of their
/// writes. Pure.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace custodian::tests::crowds {

class Ownership {
 public:
  /// \name What has happened
  /// Times are of one clock for all, in nanoseconds.
  /// \{
  void begin(const std::string& owner, const std::string& shard, std::int64_t token,
             std::int64_t time);
  void end(const std::string& owner, const std::string& shard, std::int64_t token,
           std::int64_t time);
  void wrote(const std::string& owner, const std::string& shard, std::int64_t token,
             std::int64_t zxid);
  /// All that the owner had has ended.
  void died(const std::string& owner, std::int64_t time);
  /// \}

  /// The present owners, by shard.
  [[nodiscard]] std::map<std::string, std::string> owners() const;
  [[nodiscard]] std::size_t writes() const { return count_; }
  /// What must not be: two owners of a shard at a time, a token that is not greater than the one
  /// before, or a write of an earlier owner behind one of a later. Nothing if all is well.
  [[nodiscard]] std::string violation() const;

 private:
  struct Hold {
    std::string owner{};
    std::int64_t token = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;  ///< 0: it goes on
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
