#include "stock.hpp"

#include <chrono>

namespace inventory {
namespace {

using sqlite::Statement;
using sqlite::Transaction;
using namespace std::chrono_literals;

constexpr const char* tables = R"(
  CREATE TABLE IF NOT EXISTS items (
    name TEXT PRIMARY KEY,
    pieces INTEGER NOT NULL,
    -- Of who sells it: the greatest token that was seen.
    epoch INTEGER NOT NULL DEFAULT 0,
    token INTEGER NOT NULL DEFAULT 0);
  CREATE TABLE IF NOT EXISTS orders (
    item TEXT NOT NULL REFERENCES items,
    pieces INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    token INTEGER NOT NULL);
)";

}  // namespace

Stock::Stock(const std::string& file) : connection_{file, 10s} {
  connection_.use_write_ahead_log();
  connection_.execute("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
  Transaction transaction{connection_};
  connection_.execute(tables);
  transaction.commit();
}

void Stock::add(const std::string& item, std::int64_t pieces) {
  const std::lock_guard lock{mutex_};
  sqlite::run(connection_, "INSERT OR IGNORE INTO items (name, pieces) VALUES (?, ?)", item,
              pieces);
}

std::optional<std::int64_t> Stock::pieces(const std::string& item) {
  const std::lock_guard lock{mutex_};
  Statement row{connection_, "SELECT pieces FROM items WHERE name = ?", item};
  if (!row.step()) return std::nullopt;
  return row.integer(0);
}

bool Stock::claim(const std::string& item, const std::optional<custodian::FencingToken>& token) {
  if (!token) return true;
  const std::lock_guard lock{mutex_};
  sqlite::run(connection_,
              "UPDATE items SET epoch = ?, token = ? WHERE name = ? AND (epoch, token) <= (?, ?)",
              token->epoch, token->value, item, token->epoch, token->value);
  return connection_.changes() == 1;
}

bool Stock::sell(const std::string& item, std::int64_t left, std::int64_t sold,
                 const std::optional<custodian::FencingToken>& token) {
  const custodian::FencingToken by = token.value_or(custodian::FencingToken{});
  const std::lock_guard lock{mutex_};
  Transaction transaction{connection_};
  if (token) {
    sqlite::run(connection_,
                "UPDATE items SET pieces = ? WHERE name = ? AND (epoch, token) = (?, ?)", left,
                item, by.epoch, by.value);
  } else {
    sqlite::run(connection_, "UPDATE items SET pieces = ? WHERE name = ?", left, item);
  }
  if (connection_.changes() != 1) return false;
  sqlite::run(connection_, "INSERT INTO orders (item, pieces, epoch, token) VALUES (?, ?, ?, ?)",
              item, sold, by.epoch, by.value);
  transaction.commit();
  return true;
}

}  // namespace inventory
