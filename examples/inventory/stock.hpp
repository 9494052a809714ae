#pragma once

/// \file
/// Stock keeps the pieces of each item, and the orders, in SQLite. A seller brings a fencing token;
/// Stock refuses a token that is older than the newest one that it has seen for the item.

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "custodian/lease/fencing_token.hpp"
#include "sqlite.hpp"

namespace inventory {

/// Threads: any. Any number of processes may use the same file.
class Stock {
 public:
  /// Makes the file and its tables if they are not there. Throws sqlite::Error, as all member
  /// functions do.
  explicit Stock(const std::string& file);

  /// Adds an item with this many pieces. Does nothing if the item is known.
  void add(const std::string& item, std::int64_t pieces);
  /// The number of pieces; nothing if there is no such item.
  [[nodiscard]] std::optional<std::int64_t> pieces(const std::string& item);

  /// Records the seller's token: from then on sell() refuses older tokens for this item. A seller
  /// calls this before it reads anything. Returns false if a newer token was recorded. Without a
  /// token nothing is recorded, and the result is true.
  [[nodiscard]] bool claim(const std::string& item,
                           const std::optional<custodian::FencingToken>& token);
  /// Sets the item's pieces to `left`, and records an order of `sold` pieces. Returns false, and
  /// changes nothing, if a seller with a newer token has come since claim().
  [[nodiscard]] bool sell(const std::string& item, std::int64_t left, std::int64_t sold,
                          const std::optional<custodian::FencingToken>& token);

 private:
  std::mutex mutex_;  ///< guards the connection
  sqlite::Connection connection_;
};

}  // namespace inventory
