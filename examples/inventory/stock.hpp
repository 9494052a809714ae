#pragma once

/// \file
/// Stock keeps the pieces of each item, and the orders, in SQLite. A seller brings a fencing token;
/// a token that is older than the newest one seen is refused.

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "custodian/lease/fencing_token.hpp"
#include "sqlite.hpp"

namespace inventory {

/// Threads: any. Processes: any number, on one file.
class Stock {
 public:
  /// Makes the file and its tables if they are not there. Throws sqlite::Error, as all functions
  /// do.
  explicit Stock(const std::string& file);

  /// Adds an item with this many pieces. Does nothing if the item is known.
  void add(const std::string& item, std::int64_t pieces);
  /// How many pieces there are; nothing if there is no such item.
  [[nodiscard]] std::optional<std::int64_t> pieces(const std::string& item);

  /// A seller calls this first, before it reads anything: from then on no older token may sell the
  /// item. Returns false if a seller has come with a newer token. Without a token no seller is
  /// refused.
  [[nodiscard]] bool claim(const std::string& item,
                           const std::optional<custodian::FencingToken>& token);
  /// Sets the pieces to `left`, and records the order. Returns false, and changes nothing, if a
  /// seller with a newer token has come since claim().
  [[nodiscard]] bool sell(const std::string& item, std::int64_t left, std::int64_t sold,
                          const std::optional<custodian::FencingToken>& token);

 private:
  std::mutex mutex_;  ///< guards the connection
  sqlite::Connection connection_;
};

}  // namespace inventory
