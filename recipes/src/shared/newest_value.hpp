#pragma once

/// \file
/// NewestValue decides which reading of a node's data is news, and keeps the newest one.

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace custodian::recipes_detail {

/// The write of this transaction was seen.
struct Sighting {
  std::int64_t mzxid = 0;  ///< 0: nothing was
  /// The session of the reading; none: only a later write is news.
  std::optional<std::int64_t> session{};
};

/// Within a session only a later write is news. After a lost session any other one is: a server
/// that lags behind may show an earlier one, but so do servers that were rebuilt, or restored from
/// an older snapshot, and for good.
[[nodiscard]] bool is_news(const Sighting& seen, const Sighting& now) noexcept;

/// Any thread.
class NewestValue {
 public:
  struct Reading {
    Sighting sighting;
    std::int32_t version = 0;
    std::string bytes{};
  };

  /// Keeps it if it is news.
  void note(Reading reading);
  [[nodiscard]] std::optional<Reading> get() const;

 private:
  mutable std::mutex mutex_;
  std::optional<Reading> newest_;
};

}  // namespace custodian::recipes_detail
