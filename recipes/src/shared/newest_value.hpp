#pragma once

/// \file
/// NewestValue decides which reading of a node's data is news, and keeps the newest one.

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace custodian::recipes_detail {

/// A write that a reading has shown.
struct Sighting {
  std::int64_t mzxid = 0;  ///< the transaction that wrote; 0: no write was seen
  /// The session of the reading. Without one, only a later write is news.
  std::optional<std::int64_t> session{};
};

/// Whether `now` is news after `seen`. Within a session only a later write is news. After a lost
/// session any other write is news: an earlier write may come from a server that lags behind, but
/// also, and for good, from servers that were rebuilt or restored from an older snapshot.
[[nodiscard]] bool is_news(const Sighting& seen, const Sighting& now) noexcept;

/// Keeps the newest reading. Threads: any.
class NewestValue {
 public:
  struct Reading {
    Sighting sighting;
    std::int32_t version = 0;
    std::string bytes{};
  };

  /// Keeps the reading if it is news.
  void note(Reading reading);
  [[nodiscard]] std::optional<Reading> get() const;

 private:
  mutable std::mutex mutex_;
  std::optional<Reading> newest_;
};

}  // namespace custodian::recipes_detail
