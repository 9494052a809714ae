#pragma once

/// \file
/// Which reading of a node's data is news, and the newest one.

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace custodian::recipes_detail {

/// That the write of this transaction was seen.
struct Sighting {
  std::int64_t mzxid = 0;  ///< 0: nothing was
  /// In which session; none: then nothing but a later write is news.
  std::optional<std::int64_t> session{};
};

/// Within a session that is a later write alone. After a lost session it is any other one: a server
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
